import { WordBounds } from './word-bound'

/** The vocabularies of OpenAI's models: o200k since gpt-4o, cl100k before and for embeddings. */
export type Encoding = 'o200k_base' | 'cl100k_base'

/** The vocabulary that a model reads in; `any` where that is not known. */
export type Vocabulary = Encoding | 'any'

/** The most tokens that texts have, and the time that the worker took for it, in milliseconds. */
export interface BoundedTokens {
  maxTokens: number
  tookMs: number
}

/** A token id that is not in the vocabulary, and the index of its input. */
export interface UnknownToken {
  unknownToken: number
  input: number
}

/** A message to the worker, one job at a time. The worker gives up `timeoutMs` after the job has begun. */
export type TokenJob = { timeoutMs: number } & (
  | { kind: 'count'; texts: readonly string[]; encoding: Encoding }
  | { kind: 'bound'; texts: readonly string[]; encoding: Vocabulary }
  // Floats hold any number that a caller can write, so that an error shows the wrong id.
  | { kind: 'decode'; tokens: readonly Float64Array[] }
)

/** The answer of the worker: tokens, their bound, texts, or an unknown token; undefined when time ran out. */
export type TokenAnswer = number | BoundedTokens | string[] | UnknownToken | undefined

/** The message before the answer: the vocabulary is loaded, and the job begins. */
export type WorkerProgress = 'begun'

/** Each takes 60 to 130 ms and some 50 MB, so each is loaded on first use. */
const load = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
  // The smallest one in use: it divides words that later ones have whole.
  r50k_base: () => import('gpt-tokenizer/encoding/r50k_base'),
}

/** The vocabularies in which a job counts. */
function vocabulariesOf(job: TokenJob): readonly (keyof typeof load)[] {
  if (job.kind === 'decode') return ['cl100k_base']
  return job.encoding === 'any' ? ['o200k_base', 'r50k_base'] : [job.encoding]
}

// Tokenizing is quadratic in a run without a break: 100,000 letters take seconds at once and
// milliseconds in windows of this many UTF-16 units.
const windowLength = 1024

/** The distance from a window's end within which it looks for a gap between words. */
const gapDistance = 128

// The default of 100,000 entries, filled with windows of noise, would hold more than a gigabyte.
const mergeCacheSize = 2000

// Without it the text "<|endoftext|>" throws. It is counted as the letters it is.
const plainText = { disallowedSpecial: new Set<string>() }

const isSpace = (text: string, at: number) => /\s/.test(text.charAt(at))

/**
 * Returns the end of the window that begins at `start`. The tokenizer breaks at a single space between two words
 * anyway, so cutting before it keeps the count exact; without one the cut costs a token at most, and never splits
 * a surrogate pair.
 */
function windowEnd(text: string, start: number): number {
  const end = start + windowLength
  if (end >= text.length) return text.length
  for (let at = end; at > end - gapDistance; at -= 1) {
    if (text.charAt(at) === ' ' && !isSpace(text, at - 1) && !isSpace(text, at + 1)) return at
  }
  const isPair = (text.codePointAt(end - 1) ?? 0) > 0xffff
  return isPair ? end - 1 : end
}

async function count(texts: readonly string[], encoding: Encoding, isLate: () => boolean) {
  const { countTokens, setMergeCacheSize } = await load[encoding]()
  setMergeCacheSize(mergeCacheSize)
  let tokens = 0
  for (const text of texts) {
    for (let start = 0; start < text.length;) {
      if (isLate()) return undefined
      const end = windowEnd(text, start)
      tokens += countTokens(text.slice(start, end), plainText)
      start = end
    }
  }
  return tokens
}

/** A cut may change the tokens beside it; there is at most one in this many bytes. */
const bytesPerCut = 512

/** Bounds the tokens of texts by the vocabulary that they are read in. */
async function boundExactly(texts: readonly string[], encoding: Encoding, isLate: () => boolean) {
  const tokens = await count(texts, encoding, isLate)
  if (tokens === undefined) return undefined
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return tokens + texts.length + Math.ceil(bytes / bytesPerCut)
}

let wordBounds: WordBounds | undefined

/** Bounds the tokens of texts by any vocabulary. */
async function boundByWords(texts: readonly string[], isLate: () => boolean) {
  if (!wordBounds) {
    const vocabularies = await Promise.all([load.o200k_base(), load.r50k_base()])
    for (const { setMergeCacheSize } of vocabularies) setMergeCacheSize(mergeCacheSize)
    wordBounds = new WordBounds(
      vocabularies.map(
        ({ countTokens }) =>
          (word) =>
            countTokens(word),
      ),
    )
  }
  let tokens = 0
  for (const text of texts) {
    const maxTokens = wordBounds.bound(text, isLate)
    if (maxTokens === undefined) return undefined
    tokens += maxTokens
  }
  return tokens
}

async function bound(
  { texts, encoding }: Extract<TokenJob, { kind: 'bound' }>,
  isLate: () => boolean,
): Promise<BoundedTokens | undefined> {
  const startedAtMs = performance.now()
  const maxTokens = await (encoding === 'any'
    ? boundByWords(texts, isLate)
    : boundExactly(texts, encoding, isLate))
  if (maxTokens === undefined) return undefined
  return { maxTokens, tookMs: performance.now() - startedAtMs }
}

/** Creates the lookup of one id: its text or bytes, undefined where there is none. */
async function loadPieces() {
  // The encoding is made of this module, so the ranks are in memory once.
  const { default: ranks } = await import('gpt-tokenizer/bpeRanks/cl100k_base')
  const { decode: decodeIds } = await load.cl100k_base()
  return function pieceOf(id: number): string | Uint8Array | undefined {
    const piece = ranks[id]
    if (typeof piece === 'string') return piece
    if (piece) return Uint8Array.from(piece)
    try {
      // Markers such as `<|endoftext|>` have ids beyond the ranks.
      return decodeIds([id])
    } catch {
      return undefined
    }
  }
}

// Avoids the library's own `decode`: that shares one stream decoder between all calls, so that a half character at
// the end of one caller's text would surface at the start of the next one's.
async function decode(inputs: readonly Float64Array[], isLate: () => boolean) {
  const pieceOf = await loadPieces()
  const texts: string[] = []
  for (const [input, ids] of inputs.entries()) {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    let text = ''
    let isInside = false
    for (const [index, id] of ids.entries()) {
      if (index % windowLength === 0 && isLate()) return undefined
      const piece = pieceOf(id)
      if (piece === undefined) return { unknownToken: id, input }
      if (typeof piece === 'string') {
        text += isInside ? decoder.decode() + piece : piece
        isInside = false
      } else {
        text += decoder.decode(piece, { stream: true })
        isInside = true
      }
    }
    texts.push(text + (isInside ? decoder.decode() : ''))
  }
  return texts
}

/** Loading is not part of a job's time: on a busy machine it takes seconds, once. */
async function work(job: TokenJob): Promise<TokenAnswer> {
  await Promise.all(vocabulariesOf(job).map((vocabulary) => load[vocabulary]()))
  post('begun')
  const end = performance.now() + job.timeoutMs
  const isLate = () => performance.now() > end
  if (job.kind === 'bound') return bound(job, isLate)
  return job.kind === 'count' ? count(job.texts, job.encoding, isLate) : decode(job.tokens, isLate)
}

declare const self: Worker

function post(message: TokenAnswer | WorkerProgress): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's has none
  self.postMessage(message)
}

// An error thrown here becomes the worker's `error` event; the counter then starts another one.
self.addEventListener('message', async ({ data }: MessageEvent<TokenJob>) => post(await work(data)))
