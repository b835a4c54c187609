// SPDX-License-Identifier: Apache-2.0
// A management library whose answers the test sets.
extern "C" {
unsigned fake_clock_mhz = 0;
unsigned long long fake_reasons = 0;
unsigned long long fake_energy_mj = 0;
int fake_error = 0;  // of the energy counter, which older GPUs lack

int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = &fake_error;
  return id[0] == '0' ? 0 : 6;  // not found
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = fake_clock_mhz;
  return type == 1 ? 0 : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = fake_reasons;
  return 0;
}
unsigned fake_processes = 0;
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned instance, compute_instance;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* processes) {
  if (*count < fake_processes) return 7;  // too little room
  *count = fake_processes;
  for (unsigned i = 0; i < fake_processes; ++i) processes[i] = {4711 + i, 1, 2, 3};
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = fake_energy_mj;
  return fake_error;
}
}
