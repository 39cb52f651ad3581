import { OpenContainer } from './json-container'
import { LongText, TextScanner } from './json-text'
import { ShapeExceeded, typeName, type ShapeLimits } from './json-shape'
import { systemClock } from '../platform/clock'

/** Provider's texts up to so many characters are parsed at once: none of them has much in it. */
const maxUnscanned = 8 * 1024

const usual = {
  /** Members of an object or a list are parsed together up to about so many characters. */
  run: 64 * 1024,
  /** Texts beyond it are decoded in slices; names may not be as long. */
  longText: 256 * 1024,
  /** The length of one such slice. */
  slice: 64 * 1024,
  /** The number of characters outside of texts that one step reads. */
  scan: 4096,
}

const quote = 0x22
const comma = 0x2c
const separator = 0x3a
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

const syntaxError = () => new SyntaxError('JSON Parse error')

/**
 * Parses one JSON text in slices, and counts what it holds before it is built: the same result as
 * `JSON.parse`, without holding the event loop for as long as that would. Each slice is a run of members
 * that the engine parses by itself; only objects and lists beyond a run are put together here.
 */
export class JsonSlices {
  readonly #text: string
  readonly #limits: ShapeLimits
  readonly #lengths: typeof usual
  /** The open containers, outermost first; those behind `#depth` are reused. */
  readonly #open: OpenContainer[] = []
  #depth = 0
  readonly #texts: TextScanner
  /** The start of the text that is being read, and of one that is being decoded. */
  #textStart = -1
  #long: LongText | undefined
  #at = 0
  #nodes = 0
  #values = 1
  #result: { value: unknown } | undefined

  /** `lengths` are for tests. */
  constructor(text: string, limits: ShapeLimits, lengths = usual) {
    this.#text = text
    this.#limits = limits
    this.#lengths = lengths
    this.#texts = new TextScanner(text)
    this.#at = text.search(/[^ \t\n\r]/)
    const first = text.charCodeAt(this.#at)
    // A text, number or word alone is as long as it is.
    if (first !== openList && first !== openObject) this.#result = { value: JSON.parse(text) }
  }

  /** Undefined while `step` has more to do. */
  get result(): { value: unknown } | undefined {
    return this.#result
  }

  /**
   * Does a little: a few thousand characters of structure, one run of members, or one slice of a text. Throws
   * `ShapeExceeded`, and `SyntaxError`.
   */
  step(): void {
    if (this.#long) this.#decode(this.#long)
    else if (this.#textStart < 0 || !this.#skipText()) this.#scan()
  }

  /** Reads on until something is a step by itself. */
  #scan(): void {
    const text = this.#text
    const until = Math.min(text.length, this.#at + this.#lengths.scan)
    while (this.#at < until) {
      const code = text.charCodeAt(this.#at)
      if (code === quote) {
        this.#textStart = this.#at++
        if (this.#skipText()) return
      } else if (code === comma) {
        if (this.#endMember()) return
      } else if (this.#bracket(code)) return
    }
    if (this.#at >= text.length && !this.#result) throw syntaxError()
  }

  /** Handles all characters but texts and commas. Returns true at the end of the whole text. */
  #bracket(code: number): boolean {
    if (code === separator) this.#name()
    else if (code === openObject || code === openList) this.#openContainer(code)
    else if (code === closeObject || code === closeList) this.#leave(code)
    else this.#at += 1
    return this.#result !== undefined
  }

  /** Returns true where the rest of the text, or its decoding, is left to the next step. */
  #skipText(): boolean {
    const end = this.#texts.skip(this.#at)
    this.#at = end < 0 ? ~end : end
    if (end < 0) return true
    const start = this.#textStart
    this.#textStart = -1
    const { longText, slice } = this.#lengths
    if (end - start <= longText) return false
    const container = this.#materialize()
    container.flush(start)
    if (container.isName(start))
      throw new ShapeExceeded(`has a name of more than ${longText} characters`)
    container.expect(start)
    this.#long = new LongText(this.#text, { start, end, slice })
    return true
  }

  #decode(long: LongText): void {
    long.step()
    if (!long.isDecoded) return
    this.#long = undefined
    this.#container().add(long.value, long.end)
  }

  #endMember(): boolean {
    const container = this.#container()
    if (++this.#values > this.#limits.maxValues) throw this.#exceeded('maxValues')
    container.comma = this.#at
    this.#at += 1
    if (container.isBuilt && container.isAfterChild) {
      container.endChild()
      return false
    }
    if (this.#at - container.from <= this.#lengths.run) return false
    this.#materialize().flush(this.#at)
    return true
  }

  #name(): void {
    const container = this.#container()
    container.names += 1
    this.#count()
    if (container.names > this.#limits.maxNames) throw this.#exceeded('maxNames')
    this.#at += 1
  }

  #openContainer(code: number): void {
    if (this.#depth >= this.#limits.maxDepth) throw this.#exceeded('maxDepth')
    this.#values += 1
    this.#count()
    if (this.#values > this.#limits.maxValues) throw this.#exceeded('maxValues')
    const container = (this.#open[this.#depth] ??= new OpenContainer(this.#text))
    container.begin(this.#at, code === openList)
    this.#depth += 1
    this.#at += 1
  }

  #count(): void {
    if (++this.#nodes > this.#limits.maxNodes) throw this.#exceeded('maxNodes')
  }

  #leave(code: number): void {
    const container = this.#container()
    if (container.isList !== (code === closeList)) throw syntaxError()
    this.#at += 1
    this.#depth -= 1
    const parent = this.#depth > 0 ? this.#open[this.#depth - 1] : undefined
    if (!container.isBuilt) {
      if (!parent) this.#end(JSON.parse(this.#text.slice(container.start, this.#at)))
      return
    }
    const value = container.close(this.#at - 1)
    if (parent) parent.add(value, this.#at)
    else this.#end(value)
  }

  #end(value: unknown): void {
    if (/[^ \t\n\r]/.test(this.#text.slice(this.#at))) throw syntaxError()
    this.#result = { value }
  }

  #container(): OpenContainer {
    const container = this.#depth > 0 ? this.#open[this.#depth - 1] : undefined
    if (!container) throw syntaxError()
    return container
  }

  /** Has the innermost object or list, and all around it, put together here. */
  #materialize(): OpenContainer {
    let container: OpenContainer | undefined
    for (const inner of this.#open.slice(0, this.#depth)) {
      if (container && !inner.isBuilt) {
        container.flush(inner.start)
        container.expect(inner.start)
      }
      inner.build()
      container = inner
    }
    if (!container) throw syntaxError()
    return container
  }

  #exceeded(limit: keyof ShapeLimits): ShapeExceeded {
    const [outermost] = this.#open
    const isInside = this.#depth > 1
    const message = typeName(limit, this.#limits)
    return new ShapeExceeded(message, isInside ? outermost?.nameAt() : undefined)
  }
}

/** Parses at once, with the results of `JSON.parse`. Throws `ShapeExceeded` too. */
export function parseShaped(text: string, limits: ShapeLimits): unknown {
  if (text.length <= maxUnscanned) return JSON.parse(text)
  const slices = new JsonSlices(text, limits)
  while (!slices.result) slices.step()
  return slices.result.value
}

/** Milliseconds of work after which others have their turn. */
const sliceMs = 2

/** Called between slices of parsing, with the milliseconds that the last one took; resolves when the next may begin. */
export type Pause = (ms: number) => Promise<void>

/** Lets other requests run, without a limit of its own. */
export const yieldToLoop = () => new Promise<void>((resolve) => void setImmediate(resolve))

/**
 * Parses in slices, with the results of `JSON.parse`; `pause` is called between them. Rejects with `ShapeExceeded` and
 * `SyntaxError`.
 */
export async function parseInSlices(
  text: string,
  limits: ShapeLimits,
  pause: Pause,
): Promise<unknown> {
  let startedAtMs = systemClock.monotonicMs()
  const slices = new JsonSlices(text, limits)
  while (!slices.result) {
    slices.step()
    const ms = systemClock.monotonicMs() - startedAtMs
    if (ms < sliceMs) continue
    await pause(ms)
    startedAtMs = systemClock.monotonicMs()
  }
  return slices.result.value
}
