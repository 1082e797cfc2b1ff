#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether a release is the same bytes wherever it is made: two clones of the commit that is checked out, in folders of other names
# and lengths, each released, and every file compared. Arguments: the folder for both (build/reproducible), or two clones that are
# there; --keep leaves what was made. Twice a whole build: an hour on two processors that do something else as well.
set -euo pipefail
cd "$(dirname "$0")/.."
keep='' folders=()
for word in "$@"; do
  case $word in
    --keep) keep=yes ;;
    -*) echo "unknown option $word: --keep is known" >&2; exit 2 ;;
    *) folders+=("$(realpath -m "$word")") ;;
  esac
done
root=$PWD commit=$(git rev-parse HEAD)
if ((${#folders[@]} < 2)); then
  below=${folders[0]:-$root/build/reproducible}
  folders=("$below/one" "$below/another/and-deeper/checkout")
fi
# The tools are those of this checkout; make release has made them.
export FLOW_PYTHON=${FLOW_PYTHON:-$root/.venv/bin/python} RELEASE_PYTHON=${RELEASE_PYTHON:-$root/.venv-release/bin/python}
export YOWASP_CACHE_DIR=${YOWASP_CACHE_DIR:-$root/.venv/yowasp}
for folder in "${folders[@]}"; do
  if [ ! -d "$folder/.git" ]; then
    mkdir -p "$(dirname "$folder")"
    git clone --quiet --no-local "$root" "$folder"
  fi
  git -C "$folder" fetch --quiet "$root" "$commit"
  git -C "$folder" checkout --quiet --detach "$commit"
  # What is compiled for this and for no release is compiled once.
  if [ -d "$root/build/release/tools" ] && [ ! -d "$folder/build/release/tools" ]; then
    mkdir -p "$folder/build/release" && cp -a "$root/build/release/tools" "$folder/build/release"
  fi
  echo "$folder"
  (cd "$folder" && scripts/release/make.sh)
done
differ=$({ diff "${folders[0]}/dist/SHA256SUMS" "${folders[1]}/dist/SHA256SUMS" || true; } |
  sed -nE 's/^[<>] [0-9a-f]+ [ *]//p' | sort -u)
if [ -n "$differ" ]; then
  echo "these files differ:" >&2
  while read -r file; do
    echo "  $file" >&2
    if command -v diffoscope >/dev/null; then
      diffoscope --max-report-size 20000 "${folders[0]}/dist/$file" "${folders[1]}/dist/$file" >&2 || true
    fi
  done <<<"$differ"
  command -v diffoscope >/dev/null || echo "diffoscope (of Debian or PyPI) says in what" >&2
  exit 1
fi
cmp "${folders[0]}/dist/SHA256SUMS" "${folders[1]}/dist/SHA256SUMS"
echo "$(wc -l <"${folders[0]}/dist/SHA256SUMS") files, the same bytes in both folders"
[ -n "$keep" ] || rm -rf "$root/build/reproducible"
