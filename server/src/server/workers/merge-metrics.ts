interface Family {
  /** Its lines of help and type. */
  head: string[]
  samples: string[]
}

/** The name of the metric that a comment line is about. */
const metricComment = /^# (?:HELP|TYPE) (\S+)/

/** Returns a sample line with the worker as its first label. */
function withWorker(line: string, worker: number): string {
  const at = line.search(/[{ ]/)
  const rest = line.slice(at + 1)
  const label = `worker="${worker}"`
  if (line[at] !== '{') return `${line.slice(0, at)}{${label}} ${rest}`
  return `${line.slice(0, at)}{${label}${rest.startsWith('}') ? '' : ','}${rest}`
}

/**
 * Merges the metrics of workers, by worker number, to one answer in the same text format: each metric once, with the
 * samples of all workers, which get the label `worker`.
 */
export function mergeMetrics(texts: ReadonlyMap<number, string>): string {
  const families = new Map<string, Family>()
  for (const [worker, text] of texts) {
    let current: Family | undefined
    for (const line of text.split('\n')) {
      const [, name] = metricComment.exec(line) ?? []
      if (name !== undefined) {
        current = families.get(name) ?? { head: [], samples: [] }
        families.set(name, current)
        if (!current.head.includes(line)) current.head.push(line)
      } else if (line !== '') current?.samples.push(withWorker(line, worker))
    }
  }
  return [...families.values()]
    .map(({ head, samples }) => [...head, ...samples, ''].join('\n'))
    .join('\n')
}
