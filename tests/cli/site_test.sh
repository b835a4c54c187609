#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# site_test.sh BUILD: the site of the documentation is made without a warning, where doxygen and Sphinx are installed already.
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
command -v doxygen >/dev/null || { echo "doxygen is not installed (Debian: doxygen), so the site is not made."; exit 77; }
"$root/build/site/python/bin/python" -c "import sphinx, furo, myst_parser, breathe" 2>/dev/null ||
  { echo "Sphinx is not installed in build/site/python, so the site is not made; scripts/site.sh installs it."; exit 77; }
[[ -e $1/python/tunesmith/__init__.py ]] || { echo "This build has no Python package, so the site is not made."; exit 77; }
set -e
"$root/scripts/site.sh" "$1"
page=$root/build/site/html
# The pages have the names that a reader looks for, and fetch nothing from elsewhere.
grep -q 'id="tunesmith.ndimage.gaussian_filter"' "$page/reference/python/ndimage.html"
grep -q 'DispatcherOptions' "$page/reference/cpp/dispatcher.html"
grep -q 'tunesmith_plan_launch' "$page/reference/c.html"
grep -q -e '--retry-failed' "$page/reference/program.html"
if grep -rEl '<(script|link|img)[^>]*(src|href)="https?:' "$page" --include='*.html'; then
  echo "These pages fetch something from elsewhere."
  exit 1
fi
