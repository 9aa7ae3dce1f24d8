# One training a seed that serves every layer: as many results as the encoder has layers (docs/best_layer.md).


for depth in sorted({encoder["depth"] for encoder in config["encoders"].values()}):
    results = [f"results/{{task}}/{{recipe}}/{{encoder}}/layer{layer}/seed{{seed}}.json" for layer in range(depth + 1)]

    rule:
        name:
            f"train_adaptive_depth{depth}"
        input:
            unpack(run_inputs("adaptive", lambda wildcards, depth=depth: [(depth, int(wildcards.seed))])),
        output:
            results=results,
            predictions=predictions(results),
        log:
            "logs/train_adaptive/{task}/{recipe}/{encoder}/seed{seed}.log",
        benchmark:
            "logs/train_adaptive/{task}/{recipe}/{encoder}/seed{seed}.tsv"
        wildcard_constraints:
            recipe=one_of(recipes_of("adaptive")),
            encoder=one_of(key for key, encoder in config["encoders"].items() if encoder["depth"] == depth),
        conda:
            "../../envs/train.yaml"
        threads: config["threads"]["finetune"]
        resources:
            gpu=GPU,
            mem_mb=lambda wildcards, input, attempt: encoder_memory(input.encoders, attempt),
            runtime=lambda wildcards, input, attempt: training_time(2 * input.encoders, attempt),
        params:
            settings=lambda wildcards: finetune_settings(wildcards) | ADAPTIVE,
            code=code("train_adaptive"),
        script:
            "../scripts/train_adaptive.py"
