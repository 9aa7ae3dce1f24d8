"""Write unlabelled sentences of the synthetic language of scenes."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import read_pairs, sentences_of
    from tmft.datasets.scenes.relexification import corpus_in
    from tmft.runtime.files import write_text

    scenes, excluded = work.params.scenes, sentences_of(map(read_pairs, work.input))
    sentences = corpus_in(scenes["language"], scenes["sentences"], scenes["seed"], excluded)
    write_text(work.output[0], "\n".join(sentences) + "\n")
