"""The static table and how it is fitted: a text's vector is the normalised sum of its tokens' rows."""

import torch
import torch.nn.functional as F

# A short second moment: most rows are rare, and a long one makes each of their steps large.
BETAS = (0.9, 0.99)


class Texts:
    """Token ids of many texts, flat on the device. A token that occurs c times in a text weighs c ** -damping each time."""

    def __init__(self, ragged, device, damping):
        self.lengths = torch.from_numpy(ragged.lengths).to(device)
        self.starts = torch.from_numpy(ragged.starts).to(device)
        self.ids = torch.from_numpy(ragged.flat).to(device)
        self.weights = self.occurrence_weights(damping)

    def occurrence_weights(self, damping):
        owners = torch.repeat_interleave(torch.arange(len(self.lengths), device=self.ids.device), self.lengths)
        weights = torch.empty(len(self.ids), dtype=torch.float32, device=self.ids.device)
        step = 1 << 28
        for start in range(0, len(self.ids), step):  # a text cut at a border weighs a little off; borders are few
            keys = owners[start : start + step] * (1 << 17) + self.ids[start : start + step]
            _, inverse, counts = torch.unique(keys, return_inverse=True, return_counts=True)
            weights[start : start + step] = counts[inverse].float() ** -damping
        return weights

    def vectors(self, chosen, table):
        """Normalised sums of the rows of the chosen texts."""
        lengths = self.lengths[chosen]
        ends = torch.cumsum(lengths, 0)
        offsets = ends - lengths
        within = torch.arange(int(ends[-1]), device=chosen.device) - torch.repeat_interleave(offsets, lengths)
        at = torch.repeat_interleave(self.starts[chosen], lengths) + within
        summed = F.embedding_bag(self.ids[at].long(), table, offsets, mode="sum", per_sample_weights=self.weights[at].to(table.dtype))
        return F.normalize(summed, dim=-1)


def all_vectors(texts, table, batch=16384):
    with torch.no_grad():
        count = len(texts.lengths)
        return torch.cat([texts.vectors(torch.arange(s, min(count, s + batch), device=table.device), table) for s in range(0, count, batch)])


class Projection:
    """Teacher vectors, centred, onto their principal components, at unit length."""

    def __init__(self, teacher, dimensions, generator):
        sample = teacher[torch.randperm(len(teacher), generator=generator)[:400_000].to(teacher.device)].float()
        self.mean = sample.mean(0)
        centred = F.normalize(sample - self.mean, dim=-1)
        _, vectors = torch.linalg.eigh(centred.T @ centred / len(centred))
        self.components = vectors.flip(1)[:, :dimensions]

    def centred(self, teacher):
        return F.normalize(teacher.float() - self.mean, dim=-1)

    def __call__(self, teacher):
        return F.normalize(self.centred(teacher) @ self.components, dim=-1)


def schedule(optimizer, steps, rate):
    return torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=steps, pct_start=0.05, anneal_strategy="cos")


def fit_regression(table, texts, targets, epochs, rate, batch, generator):
    """The table such that each text's vector points where the teacher's points."""
    table = table.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([table], lr=rate, betas=BETAS)
    steps = max(2, epochs * (len(targets) // batch))
    plan = schedule(optimizer, steps, rate)
    order, position, total = None, len(targets), 0.0
    for step in range(steps):
        if position + batch > len(targets):
            order, position = torch.randperm(len(targets), generator=generator).to(table.device), 0
        chosen = order[position : position + batch]
        position += batch
        loss = (1 - (texts.vectors(chosen, table) * targets[chosen].float()).sum(-1)).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        plan.step()
        if step % 50 == 0:
            total += (float(loss.detach()) - total) * (0.2 if step else 1.0)
    return table.detach(), total


def fit_contrast(table, texts, targets, pairs, pools, options, generator):
    """Questions must find their passages among a batch; the teacher's own ranking and vectors hold the table."""
    start = table
    table = table.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([table], lr=options["rate"], betas=BETAS)
    steps, batch = options["steps"], options["batch"]
    plan = schedule(optimizer, steps, options["rate"])
    pools = [pool for pool in pools if len(pool) >= batch // 4]
    chances = torch.tensor([float(len(p)) ** 0.5 for p in pools])
    for step in range(steps):
        if torch.rand((), generator=generator) < options["mixed"]:
            picked = torch.randint(len(pairs), (batch,), generator=generator).to(table.device)
        else:
            pool = pools[int(torch.multinomial(chances, 1, generator=generator))]
            picked = pool[torch.randperm(len(pool), generator=generator)[:batch].to(pool.device)]
        questions, passages = pairs[picked, 0], pairs[picked, 1]
        q, p = texts.vectors(questions, table), texts.vectors(passages, table)
        scores = q @ p.T / options["temperature"]
        same = torch.arange(len(picked), device=table.device)
        # The same passage may be in the batch twice: it is no negative.
        twin = (passages[None] == passages[:, None]) | (questions[None] == questions[:, None])
        masked = scores.masked_fill(twin & ~torch.eye(len(picked), dtype=torch.bool, device=table.device), -1e4)
        loss = options["contrast"] * 0.5 * (F.cross_entropy(masked, same) + F.cross_entropy(masked.T, same))
        tq, tp = targets[questions].float(), targets[passages].float()
        if options["ranking"]:
            wanted = F.softmax(tq @ tp.T / options["teacher_temperature"], dim=-1)
            loss = loss + options["ranking"] * F.kl_div(F.log_softmax(scores, dim=-1), wanted, reduction="batchmean")
        if options["anchor"]:
            loss = loss + options["anchor"] * ((1 - (q * tq).sum(-1)).mean() + (1 - (p * tp).sum(-1)).mean())
        if options["keep"]:
            loss = loss + options["keep"] * ((table - start) ** 2).sum() / len(table)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        plan.step()
    return table.detach(), float(loss.detach())


def quantised(table):
    """int8 rows with one scale each, and the table that they stand for."""
    peak = table.abs().amax(1).clamp_min(1e-12)
    scale = (peak / 127).half()
    scale = torch.where(scale == 0, torch.full_like(scale, 6e-8), scale)
    rows = (table / scale.float()[:, None]).round().clamp(-127, 127).to(torch.int8)
    return rows, scale
