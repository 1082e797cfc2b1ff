#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that a release is, below dist/ (RELEASING.md): make release. Arguments: --dirty takes a checkout with changes, --secret FILE
# signs. $FLOW_PYTHON is a Python with the flow's tools, $RELEASE_PYTHON one with those of flow/release/requirements.txt; `make` says
# where they are. The same commit becomes the same bytes in any folder, with the same tools: dist/BUILD has them.
set -euo pipefail
cd "$(dirname "$0")/../.."
dirty='' secret=''
while (($#)); do
  case $1 in
    --dirty) dirty=yes ;;
    --secret) secret=${2:?--secret wants a file}; shift ;;
    *) echo "unknown argument $1: --dirty and --secret FILE are known" >&2; exit 2 ;;
  esac
  shift
done
flow=${FLOW_PYTHON:-$PWD/.venv/bin/python} tools=${RELEASE_PYTHON:-$PWD/.venv-release/bin/python}
for python in "$flow" "$tools"; do
  "$python" -c '' 2>/dev/null || { echo "$python is no Python: \`make release\` makes it" >&2; exit 2; }
done
if [ -n "$secret" ] && [ ! -r "$secret" ]; then
  echo "$secret cannot be read: LIBRARY_SECRET names the key that signs; without it the release is not signed" >&2
  exit 2
fi
changed=$(git status --porcelain)
if [ -n "$changed" ] && [ -z "$dirty" ]; then
  echo "this checkout has changes, and a release is a commit:" >&2
  head -n 10 <<<"$changed" >&2
  echo "commit or remove them; \`make release DIRTY=1\` takes them all the same, and dist/BUILD says so" >&2
  exit 2
fi
# shellcheck source=scripts/release/environment.sh
. scripts/release/environment.sh
export PYTHONPATH=$PWD/flow PYTHONDONTWRITEBYTECODE=1 ACE_LIBRARY_ALLOW_OLDER=1
# The program that was built, whatever else the machine has.
export ACE_BIN=$CARGO_TARGET_DIR/release/ace
export YOWASP_CACHE_DIR=${YOWASP_CACHE_DIR:-$PWD/.venv/yowasp}
unset ACE_LIBRARY ACE_LIBRARY_KEY ACE_BUILD ACE_CONFIGURATIONS
version=$("$flow" -m ace_flow version --print)
"$flow" -m ace_flow version --check
"$flow" -m ace_flow cores --check
work=build/release dist=dist
rm -rf "$dist" "$work"/{source,package,site,images,wheel}
mkdir -p "$dist" "$work"

step=0
steps=10
say() {
  step=$((step + 1))
  printf '[%d/%d, %4d s] %s\n' "$step" "$steps" "$SECONDS" "$*"
}
# A file of a folder's files, in order, of nobody, at the time of the commit.
packed() {
  tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w \
    --mtime="@$SOURCE_DATE_EPOCH" --directory "$2" --transform "s,^\.,$3," . | gzip -9n >"$1"
}

say "source"
git archive --format=tar --prefix="ace-$version/" HEAD | gzip -9n >"$dist/ace-$version.tar.gz"
mkdir -p "$work/source"
git archive --format=tar HEAD | tar -x -C "$work/source"

say "programs (minutes)"
features=${IPSEC_MB:+--features ace/ipsec-mb,ace-provider/ipsec-mb}
# shellcheck disable=SC2086
cargo build --release --locked --quiet --package ace --package ace-xfrm-preload --package ace-provider $features

say "model of the array's slot"
CXX=$PWD/scripts/release/cxx.sh "$flow" -m ace_flow array model >/dev/null

say "Debian package"
MODELS=array scripts/package.sh "$ACE_BIN" "$work/package" >"$work/package.log" 2>&1 || { cat "$work/package.log" >&2; exit 1; }
cp "$work/package"/ace_*.deb "$dist"

say "library, and the images of boards"
install -m 644 library/ace.lib "$dist/ace.lib"
mkdir -p "$dist/images"
"$ACE_BIN" image list --json | "$tools" -c 'import json, sys; print(*(one["name"] for one in json.load(sys.stdin)), sep="\n")' \
  >"$work/images.txt"
while read -r name; do
  "$ACE_BIN" library extract --image "$name" --out "$work/images" >/dev/null 2>"$work/images.log"
  install -m 644 "$work/images/$name/$name.bit" "$dist/images/$name.bit"
  for file in manifest.json proof.json; do
    install -m 644 "$work/images/$name/$file" "$dist/images/$name.$file"
  done
done <"$work/images.txt"

say "crates that stand alone"
crates=$(scripts/release/crates.sh)
# shellcheck disable=SC2086
cargo package --no-verify --quiet ${dirty:+--allow-dirty} $crates 2>"$work/crates.log" || { cat "$work/crates.log" >&2; exit 1; }
mkdir -p "$dist/crates"
cp "$CARGO_TARGET_DIR"/package/*-"$version".crate "$dist/crates"

say "wheel of the flow"
(cd "$work/source/flow" && "$tools" -m build --wheel --no-isolation --outdir ../../wheel . >../../wheel.log 2>&1) || {
  tail -n 20 "$work/wheel.log" >&2
  exit 1
}
cp "$work"/wheel/*.whl "$dist"

say "book"
NO_MKDOCS_2_WARNING=1 "$flow" -m mkdocs build --strict --quiet --site-dir "$PWD/$work/site"
packed "$dist/ace-$version-book.tar.gz" "$work/site" "ace-$version-book"

say "what it stands on (CycloneDX)"
scripts/release/sbom.sh "$tools" "$version" "$dist"

say "checksums"
awk -v wanted="## $version" '$0 == wanted { on = 1; next } /^## / { on = 0 } on && (some || NF) { some = 1; print }' CHANGELOG.md >"$dist/CHANGES.md"
{
  echo "version $version"
  echo "commit $(git rev-parse HEAD)${changed:+ with changes}"
  echo "SOURCE_DATE_EPOCH $SOURCE_DATE_EPOCH"
  echo "intel-ipsec-mb ${IPSEC_MB:+yes}${IPSEC_MB:-no}" | sed 's/yes.*/yes/'
  for tool in rustc cargo g++ ld python3 dpkg-deb tar gzip; do
    echo "$tool: $("$tool" --version | head -n 1)"
  done
  echo "python of the flow: $("$flow" --version)"
} >"$dist/BUILD"
(cd "$dist" && find . -type f ! -name 'SHA256SUMS*' -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS)
if [ -n "$secret" ]; then
  "$ACE_BIN" library sign-file "$dist/SHA256SUMS" --secret "$secret"
else
  echo "nobody has signed $dist/SHA256SUMS: make release LIBRARY_SECRET=FILE does, and so does ace library sign-file"
fi
echo "$dist: $(wc -l <"$dist/SHA256SUMS") files, $(du -sh "$dist" | cut -f1), in $SECONDS s"
