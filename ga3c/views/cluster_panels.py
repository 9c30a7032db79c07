"""The pods of a run on its screen: all together, and each that there is room for."""

from rich.text import Text

from ga3c.text import count
from ga3c.views.figures import number
from ga3c.views.run_view import RunView

HEAD = f"{'pod':>6}  {'node':14}  {'state':8}  {'steps/s':>8}  {'KB/s':>7}  {'weights':>8}  {'heard':>7}"


def together(view: RunView) -> list[tuple[str, str]]:
    """Five lines: a label and a value each."""
    rows, cluster = view.throughput, view.pods
    nodes = count(cluster.nodes, "node")
    shards = f", {count(cluster.shards, 'shard')}" * (cluster.shards > 0)
    came = rows.last("pods_bytes_per_second") / 1000
    lines = {
        "pods play": f"{cluster.playing} of {number(cluster.wanted)} on {nodes}",
        "from pods": f"{number(rows.last('trained_steps_per_second'))} steps/s, {number(came)} KB/s",
        "weights' age": f"{number(rows.last('weights_age_seconds'), 1)} s",
        f"drawn{shards}": f"{number(rows.last('drawn_per_second'))} steps/s",
        "experience's age": f"{number(rows.last('experience_age_steps'))} steps",
    }
    return list(lines.items())


def each(view: RunView, lines: int) -> list[Text]:
    """A head and a line for each pod, so many lines at the most: those first that need a look."""
    pods = view.pods.pods
    shown = pods if len(pods) < lines else pods[: lines - 2]
    found = [Text(HEAD, "bright_black")]
    for pod in shown:
        line = (
            f"{number(pod.number):>6}  {pod.node[:14]:14}  {pod.state[:8]:8}  {number(pod.steps_per_second):>8}  "
            f"{number(pod.bytes_per_second / 1000):>7}  {number(pod.weights_age_seconds, 1):>6} s  "
            f"{number(pod.heard_seconds, 1):>5} s"
        )
        found.append(Text(line, "" if pod.state == "plays" else "yellow"))
    if len(shown) < len(pods):
        found.append(Text(f"{'':8}and {len(pods) - len(shown)} more", "bright_black"))
    return found
