/** Random numbers from a seed: the same for the same seed, on any machine. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a whole number from 0 to below a bound (mulberry32). */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound)
  }

  /** Picks one of several. Throws where there is none. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('there is nothing to pick from')
    return item
  }
}

/** Pieces that parsers are known to read in different ways. */
const pieces = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  '\0',
  ' ',
  '\t',
  '\xa0',
  ':',
  ',',
  ';',
  '"',
  '0',
  '-',
  '+',
  '0x',
  'f',
  '\xff',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'ffffffff\r\n',
  'chunked',
  'close',
  'keep-alive',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.0 200 OK\r\n',
  'content-length: 3\r\n',
  'content-length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  'transfer-encoding: gzip\r\n',
  'connection: close\r\n',
  'connection: keep-alive\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison',
] as const

type Mutation = (bytes: string, random: SeededRandom, other: string) => string

const mutations: readonly Mutation[] = [
  // Replaces one byte by another.
  (bytes, random) => {
    const at = random.below(bytes.length + 1)
    return `${bytes.slice(0, at)}${String.fromCodePoint(random.below(256))}${bytes.slice(at + 1)}`
  },
  // Inserts a piece between two bytes.
  (bytes, random) => {
    const at = random.below(bytes.length + 1)
    return bytes.slice(0, at) + random.pick(pieces) + bytes.slice(at)
  },
  // Inserts a piece after a line, where parsers change their state.
  (bytes, random) => {
    const lines = bytes.split('\r\n')
    const at = random.below(lines.length)
    return [
      ...lines.slice(0, at),
      random.pick(pieces) + (lines[at] ?? ''),
      ...lines.slice(at + 1),
    ].join('\r\n')
  },
  // Bytes left out.
  (bytes, random) => {
    const at = random.below(bytes.length + 1)
    return bytes.slice(0, at) + bytes.slice(at + 1 + random.below(8))
  },
  // Repeats a line, or moves it.
  (bytes, random) => {
    const lines = bytes.split('\r\n')
    const line = random.pick(lines)
    return lines.toSpliced(random.below(lines.length + 1), random.below(2), line).join('\r\n')
  },
  // The end left out.
  (bytes, random) => bytes.slice(0, random.below(bytes.length + 1)),
  // Joins the beginning of one answer and the end of another.
  (bytes, random, other) =>
    bytes.slice(0, random.below(bytes.length + 1)) + other.slice(random.below(other.length + 1)),
  // Joins two answers.
  (bytes, _random, other) => bytes + other,
]

/** Picks one of the answers and changes it up to four times. */
export function mutateAnswer(answers: readonly string[], random: SeededRandom): string {
  let bytes = random.pick(answers)
  for (let remaining = random.below(5); remaining > 0; remaining--) {
    bytes = random.pick(mutations)(bytes, random, random.pick(answers))
  }
  return bytes
}

/** Cuts bytes into at most `maxPieces` pieces, at random places. */
export function cutBytes(bytes: string, maxPieces: number, random: SeededRandom): string[] {
  const cuts = Array.from({ length: random.below(maxPieces) }, () => random.below(bytes.length + 1))
  const positions = [0, ...cuts.toSorted((one, other) => one - other), bytes.length]
  return positions.slice(1).map((end, at) => bytes.slice(positions[at] ?? 0, end))
}
