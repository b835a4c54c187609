// SPDX-License-Identifier: Apache-2.0
#include "tuner/process/wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "tuner/check/messages.h"

namespace tunesmith {
namespace {

TEST(Frames, ComeWholeFromPieces) {
  const std::string bytes = to_bytes({5, "hello"}) + to_bytes({6, ""}) + to_bytes({7, std::string(3, '\0')});
  FrameBuffer buffer;
  std::vector<Frame> frames;
  for (const char byte : bytes) {
    buffer.add({&byte, 1});
    for (Frame frame; buffer.next(frame);) frames.push_back(frame);
  }
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].kind, 5);
  EXPECT_EQ(frames[0].payload, "hello");
  EXPECT_EQ(frames[1].payload, "");
  EXPECT_EQ(frames[2].payload.size(), 3u);
  EXPECT_TRUE(buffer.empty());
}

TEST(Frames, ThatCannotBeOursAreRefused) {
  FrameBuffer buffer;
  buffer.add("\xff\xff\xff\xff and more");
  Frame frame;
  EXPECT_THROW(buffer.next(frame), Error);
}

TEST(Messages, ComeBackAsTheyWere) {
  MeasureReply reply;
  reply.verdict = Verdict::wrong_result;
  reply.reason = "y[3] is 1, expected 2";
  reply.samples_us = {1.5, 2.5};
  reply.clock_mhz = 1425;
  reply.throttled = "power cap";
  reply.energy_uj = 161e3;
  reply.max_error = 0.25;
  reply.registers = 40;
  reply.local_bytes = std::int64_t{1} << 40;
  reply.lost = true;
  const auto back = from_frame<MeasureReply>(to_frame(reply));
  EXPECT_EQ(back.verdict, reply.verdict);
  EXPECT_EQ(back.reason, reply.reason);
  EXPECT_EQ(back.samples_us, reply.samples_us);
  EXPECT_EQ(back.clock_mhz, 1425);
  EXPECT_EQ(back.throttled, "power cap");
  EXPECT_EQ(back.energy_uj, 161e3);
  EXPECT_EQ(back.max_error, reply.max_error);
  EXPECT_EQ(back.registers, reply.registers);
  EXPECT_EQ(back.local_bytes, reply.local_bytes);
  EXPECT_TRUE(back.lost);

  MeasureRequest request;
  request.timing.give_up_above_us = 7.5;
  request.timing.repeats = 20;
  request.timing.conditions.launches = Launches::chained;
  request.timing.conditions.caches = Caches::cold;
  request.energy = true;
  const auto asked = from_frame<MeasureRequest>(to_frame(request));
  EXPECT_EQ(asked.timing.give_up_above_us, 7.5);
  EXPECT_EQ(asked.timing.repeats, 20);
  EXPECT_TRUE(asked.timing.conditions == request.timing.conditions && asked.energy);

  Hello hello;
  hello.identity = "cuda:1";
  hello.uuid = "GPU-1";
  hello.device.name = "A GPU";
  hello.device.l2_bytes = 50 << 20;
  hello.device.shared_bytes_per_multiprocessor = 228 << 10;
  hello.device.max_threads_per_multiprocessor = 2048;
  hello.device.max_grid.z = 7;
  const auto greeted = from_frame<Hello>(to_frame(hello));
  EXPECT_EQ(greeted.version, protocol_version);
  EXPECT_EQ(greeted.uuid, "GPU-1");
  EXPECT_EQ(greeted.device.name, "A GPU");
  EXPECT_EQ(greeted.device.l2_bytes, 50 << 20);
  EXPECT_EQ(greeted.device.shared_bytes_per_multiprocessor, 228 << 10);
  EXPECT_EQ(greeted.device.max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(greeted.device.max_grid.z, 7);
}

TEST(Messages, CutShortOrOfAnotherKindAreErrors) {
  Frame frame = to_frame(CompileReply{});
  EXPECT_THROW(from_frame<MeasureReply>(frame), Error);
  frame.payload.pop_back();
  EXPECT_THROW(from_frame<CompileReply>(frame), Error);
}

TEST(Sockets, CarryMoreThanTheyBuffer) {
  std::array<int, 2> ends;
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const std::string large(10'000'000, 'x');
  std::jthread sender([&] { EXPECT_TRUE(send_frame(ends[0], {9, large}, 10)); });
  FrameBuffer buffer;
  Frame frame;
  ASSERT_TRUE(receive_frame(ends[1], buffer, frame));
  EXPECT_EQ(frame.payload, large);
  sender.join();
  EXPECT_FALSE(send_frame(ends[0], {9, large}, 0.05));  // there is no reader
  ::close(ends[1]);
  EXPECT_FALSE(send_frame(ends[0], {9, "x"}, 1));
  ::close(ends[0]);
}

}  // namespace
}  // namespace tunesmith
