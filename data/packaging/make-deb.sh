#!/usr/bin/env bash
# Makes Debian packages of this checkout for the release that it runs on: lithoscope-cli (command
# line, libraries, Python package), lithoscope (the window) and, where an nvcc is found,
# lithoscope-cuda. What they depend on is computed from the programs.
#
#   make-deb.sh OUT [BUILD]
#
# OUT is the folder for the packages. BUILD is an existing build folder with the prefix /usr or
# /usr/local (the programs find their parts from where they are); without it a release build is made in
# a temporary folder. Needs dpkg-dev, binutils and what building needs.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=/usr/sbin:/usr/bin:/sbin:/bin # Debian's Python, whose folder for packages is used
umask 022

build=${2:-}
if [ -z "$build" ]; then
  build=$work/build
  meson setup "$build" "$top" --prefix=/usr --libdir="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" \
    --buildtype=release -Dnative=false -Dtests=false >&2
  ninja -C "$build" >&2
fi
stage=$work/stage
DESTDIR=$stage meson install -C "$build" --no-rebuild --quiet
if [ -d "$stage/usr/local" ]; then mv "$stage/usr/local" "$work/usr" && rm -r "$stage/usr" && mv "$work/usr" "$stage"; fi
[ -d "$stage/usr" ] || { echo "$build is not configured with the prefix /usr or /usr/local" >&2; exit 1; }

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$top/meson.build")-1
arch=$(dpkg --print-architecture)
maintainer='Lithoscope developers <developers@lithoscope.invalid>'
cd "$stage/usr"
find . -type f \( -path './bin/*' -o -name '*.so' -o -name '*.so.*' \) -exec strip --strip-unneeded {} +
# Debian's zsh looks here for what packages bring.
[ ! -d share/zsh/site-functions ] || mv share/zsh/site-functions share/zsh/vendor-completions
find share/man -type f -exec gzip -9n {} +
find . -name __pycache__ -prune -exec rm -r {} +
# A build by another Python than Debian's names that one's folder.
for path in lib/python3*/*-packages/lithoscope; do
  case $path in lib/python3/dist-packages/*|*'*'*) continue ;; esac
  mkdir -p lib/python3/dist-packages
  mv "$path" lib/python3/dist-packages
  rmdir -p "$(dirname "$path")" 2>/dev/null || true
done

# take PACKAGE FILE...: moves installed files (patterns below /usr) into a package.
take() {
  local package=$1 pattern path
  shift
  for pattern in "$@"; do
    for path in $pattern; do
      [ -e "$path" ] || continue
      mkdir -p "$work/$package/usr/$(dirname "$path")"
      mv "$path" "$work/$package/usr/$(dirname "$path")"
    done
  done
}
take lithoscope-cuda 'lib/*/lithoscope/lithoscope-cuda.so'
take lithoscope bin/lithoscope 'share/man/man1/lithoscope.1.gz' share/applications share/metainfo share/mime share/icons
take lithoscope-cli '*'

# depends PACKAGE: fills $work/PACKAGE.vars with shlibs:Depends and shlibs:Recommends. Only a run
# under mpirun needs the libraries of the MPI module.
depends() {
  local package=$1 files=() modules=() file
  while IFS= read -r file; do
    case $(head -c 4 "$file" | tr -d '\0') in $'\x7fELF') ;; *) continue ;; esac
    case $file in */lithoscope-mpi.so) modules+=("$file") ;; *) files+=("$file") ;; esac
  done < <(find "$work/$package" -type f)
  mkdir -p "$work/shlibs/debian"
  printf 'Source: lithoscope\n\nPackage: %s\nArchitecture: any\n' "$package" > "$work/shlibs/debian/control"
  (cd "$work/shlibs" && dpkg-shlibdeps -O --ignore-missing-info -l"$(dirname "$work"/lithoscope-cli/usr/lib/*/liblithoscope-core.so)" \
    -dDepends "${files[@]}" ${modules[@]+-dRecommends "${modules[@]}"}) > "$work/$package.vars" 2> "$work/shlibs.log" ||
    { cat "$work/shlibs.log" >&2; return 1; }
}
variable() { sed -n "s/^shlibs:$2=//p" "$work/$1.vars"; }

# make PACKAGE "FIELDS" "SUMMARY" "TEXT": control files and the package.
make_package() {
  local package=$1 fields=$2 summary=$3 text=$4 root=$work/$1
  local doc=$root/usr/share/doc/$package
  mkdir -p "$root/DEBIAN" "$doc"
  gzip -9nc "$top/docs/CHANGELOG.md" > "$doc/changelog.gz"
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'
    printf 'Upstream-Name: Lithoscope\nSource: https://lithoscope.org\n\n'
    printf 'Files: *\nCopyright: the Lithoscope developers\nLicense: GPL-3.0-or-later\n'
    printf ' The text is in /usr/share/common-licenses/GPL-3.\n'
  } > "$doc/copyright"
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$package" "$version" "$arch" "$maintainer"
    printf 'Section: science\nPriority: optional\nHomepage: https://lithoscope.org\n'
    printf 'Installed-Size: %s\n' "$(du -sk --exclude=DEBIAN "$root" | cut -f1)"
    printf '%s\n' "$fields"
    printf 'Description: %s\n' "$summary"
    printf '%s\n' "$text" | fold -s -w 76 | sed 's/[[:space:]]*$//; s/^/ /'
  } > "$root/DEBIAN/control"
  if ls "$root"/usr/lib/*/*.so >/dev/null 2>&1; then echo 'activate-noawait ldconfig' > "$root/DEBIAN/triggers"; fi
  (cd "$root" && find usr -type f -exec md5sum {} +) > "$root/DEBIAN/md5sums"
  chmod -R u=rwX,go=rX "$root"
  dpkg-deb --root-owner-group -Zxz --build "$root" "$out/${package}_${version}_${arch}.deb" >&2
}

depends lithoscope-cli
recommends=$(variable lithoscope-cli Recommends)
make_package lithoscope-cli "Depends: $(variable lithoscope-cli Depends)
Recommends: ${recommends:+$recommends, openmpi-bin, }python3-numpy" \
  'operators on 3-D seismic cubes: command line and libraries' \
  'Noise attenuation, interpolation, compression, migration and modelling of 3-D seismic surveys (SEG-Y, SU, NumPy, Madagascar), larger than memory and on clusters, with recipes tuned in the window of lithoscope. Includes a Python package for NumPy arrays.'
if [ -e "$work/lithoscope/usr/bin/lithoscope" ]; then
  depends lithoscope
  make_package lithoscope "Depends: lithoscope-cli (= $version), $(variable lithoscope Depends), libgl1-mesa-dri | libgl1-nvidia-glvnd-glx, adwaita-icon-theme, librsvg2-common
Recommends: fonts-dejavu-core" \
    'tune operators on 3-D seismic cubes while you look at them' \
    'Opens 3-D seismic cubes in place and runs noise attenuation, interpolation, compression and migration on the processor or the graphics card while sliders are dragged. The tuned recipe runs from the command line on surveys larger than memory.'
fi
if ls "$work"/lithoscope-cuda/usr/lib/*/lithoscope/lithoscope-cuda.so >/dev/null 2>&1; then
  depends lithoscope-cuda
  make_package lithoscope-cuda "Depends: lithoscope-cli (= $version), $(variable lithoscope-cuda Depends)
Suggests: libcuda1" \
    'operators on 3-D seismic cubes: CUDA module' \
    'The operators of Lithoscope on NVIDIA graphics cards. The module is opened at run time; without a card or its driver the programs use the processor.'
fi
ls "$out"/*_"${version}"_"$arch".deb
