import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { countTokens, encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { TokenCounter } from './token-counter'
import { recordTimeFigure } from '../../testing/figures'
import { TestClock } from '../../testing/clock'

const warm = new TokenCounter({ deadlineMs: 50_000 })
afterAll(() => warm[Symbol.dispose]())

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** A worker that answers as the test says. */
class StubWorker extends EventTarget {
  static last: StubWorker
  isTerminated = false

  constructor() {
    super()
    StubWorker.last = this
  }

  tell(data: unknown): void {
    if (!this.isTerminated) this.dispatchEvent(new MessageEvent('message', { data }))
  }

  postMessage(): void {}

  unref(): void {}

  terminate(): void {
    this.isTerminated = true
  }
}

const words = Array.from({ length: 3000 }, (_, index) => `word${index * 7919}, then;`)

describe('count', () => {
  test('equals the tokenizer for short texts and sums over texts', async () => {
    const texts = ['Hello, world!', '', 'déjà vu  twice', '你好，世界', '👩‍👩‍👧 family', '\ud800 alone']
    const o200k = texts.reduce((sum, text) => sum + countO200k(text), 0)
    const cl100k = texts.reduce((sum, text) => sum + countTokens(text), 0)
    expect(await warm.count(texts)).toBe(o200k)
    expect(await warm.count(texts, { encoding: 'cl100k_base' })).toBe(cl100k)
    expect(await warm.count([])).toBe(0)
  })

  test('is exact for long prose, because it cuts between words', async () => {
    const prose = words.join(' ')
    expect(await warm.count([prose])).toBe(countO200k(prose))
  })

  test('reads the markers of the vocabulary as text', async () => {
    const expected = countO200k('<|endoftext|>', { disallowedSpecial: new Set() })
    expect(expected).toBeGreaterThan(1)
    expect(await warm.count(['<|endoftext|>'])).toBe(expected)
  })

  test('counts a run of emoji without cutting one in half', async () => {
    const run = `a${'😀'.repeat(2000)}`
    expect(await warm.count([run])).toBeLessThan(countO200k(run) + 5)
  })

  test('an unbroken run is counted in pieces', async () => {
    const unbroken = '漢'.repeat(60_000)
    expect(await warm.count([unbroken], { deadlineMs: 60_000 })).toBeGreaterThan(20_000)
  })
})

describe('bound', () => {
  const prose = words.join(' ')
  const deadlineMs = 60_000

  test('finding M23: by a known vocabulary is the count, and hardly more', async () => {
    const bound = await warm.bound([prose, 'Hello'], { encoding: 'o200k_base', deadlineMs })
    const count = countO200k(prose) + 1
    expect(bound?.maxTokens).toBeWithin(count, 1.02 * count)
    expect(bound?.tookMs).toBePositive()
    const older = await warm.bound(['Hello'], { encoding: 'cl100k_base', deadlineMs })
    expect(older?.maxTokens).toBe(3)
  })

  test('by any vocabulary is between the count and the bytes', async () => {
    const text = 'It is what a provider with a vocabulary of its own can count. '.repeat(200)
    const bound = await warm.bound([text, '漢字'], { encoding: 'any', deadlineMs })
    expect(bound?.maxTokens).toBeWithin(2 * countO200k(text), 0.6 * text.length + 6)
  })

  test('for a long unbroken run is as fast, and a late one is undefined', async () => {
    const run = ['a'.repeat(4_000_000)]
    expect((await warm.bound(run, { encoding: 'any', deadlineMs }))?.maxTokens).toBe(4_000_000)
    const long = [prose.repeat(50)]
    expect(await warm.bound(long, { encoding: 'any', deadlineMs: 1 })).toBeUndefined()
  })
})

describe('deadlines and bounds', () => {
  const endless = ['漢'.repeat(10_000_000)]

  test('resolves with undefined for a job that is late, and the next one works', async () => {
    await warm.count(['warm'])
    const late = () => warm.count(endless, { deadlineMs: 30 })
    const answer = await recordTimeFigure('a job that is late after 30 ms', { atMost: 1000 }, late)
    expect(answer).toBeUndefined()
    expect(await warm.count(['Hello'])).toBe(1)
  })

  test('a worker that overruns is replaced', async () => {
    const clock = new TestClock()
    const causes: unknown[] = []
    using counter = new TokenCounter({
      graceMs: 1000,
      newWorker: () => new StubWorker(),
      onFailure: (cause) => causes.push(cause),
      clock,
    })
    const first = counter.count(['Hello'], { deadlineMs: 30 })
    StubWorker.last.tell('begun')
    await clock.advance(30)
    expect(await first).toBeUndefined()
    await clock.advance(999)
    expect(causes).toEqual([])
    await clock.advance(1)
    expect(causes).toEqual(['overran'])
    const second = counter.count(['Hello'])
    StubWorker.last.tell('begun')
    StubWorker.last.tell(1)
    expect([await second, causes]).toEqual([1, ['overran']])
  })

  test('S5: all jobs wait for a worker that is loading, and it is not ended', async () => {
    const clock = new TestClock()
    const causes: unknown[] = []
    using counter = new TokenCounter({
      graceMs: 0,
      loadMs: 60_000,
      newWorker: () => new StubWorker(),
      onFailure: (cause) => causes.push(cause),
      clock,
    })
    const jobs = [1, 2].map(() => counter.count(['Hello'], { deadlineMs: 30 }))
    const worker = StubWorker.last
    // As on a busy machine, for longer than a job may take.
    await clock.advance(60_029)
    worker.tell('begun')
    worker.tell(1)
    worker.tell('begun')
    worker.tell(2)
    expect(await Promise.all(jobs)).toEqual([1, 2])
    expect([causes, StubWorker.last === worker]).toEqual([[], true])
  })

  test('S5: a worker without waiting jobs continues loading for a while', async () => {
    const clock = new TestClock()
    const causes: unknown[] = []
    using counter = new TokenCounter({
      graceMs: 0,
      loadMs: 0,
      maxLoadMs: 60_000,
      newWorker: () => new StubWorker(),
      onFailure: (cause) => causes.push(cause),
      clock,
    })
    expect(await clock.run(counter.count(['Hello'], { deadlineMs: 1 }))).toBeUndefined()
    const second = counter.count(['Hello'], { deadlineMs: 60_000 })
    const worker = StubWorker.last
    await clock.advance(59_998)
    // A late count is discarded; the next job has its own.
    worker.tell('begun')
    worker.tell(7)
    worker.tell('begun')
    worker.tell(1)
    expect([await second, causes]).toEqual([1, []])
    using stuck = new TokenCounter({
      loadMs: 0,
      maxLoadMs: 20,
      newWorker: () => new StubWorker(),
      onFailure: (cause) => causes.push(cause),
      clock,
    })
    expect(await clock.run(stuck.count(['Hello'], { deadlineMs: 1 }))).toBeUndefined()
    await clock.advance(19)
    expect(causes).toEqual([])
    await clock.advance(1)
    expect(causes).toEqual(['did not load'])
  })

  test('a job that waits behind another keeps its own deadline', async () => {
    const clock = new TestClock()
    using counter = new TokenCounter({ newWorker: () => new StubWorker(), clock })
    const first = counter.count(['Hello'], { deadlineMs: 60_000 })
    StubWorker.last.tell('begun')
    expect(await clock.run(counter.count(['Hello'], { deadlineMs: 1 }))).toBeUndefined()
    StubWorker.last.tell(7)
    expect(await first).toBe(7)
  })

  test('a full queue answers undefined at once', async () => {
    using counter = new TokenCounter({ queueLimit: 2, deadlineMs: 50_000 })
    const jobs = ['a', 'b', 'c', 'd'].map((text) => counter.count([text]))
    expect(await Promise.all(jobs)).toEqual([1, 1, 1, undefined])
  })

  test('an idle worker is ended and starts again when there is work', async () => {
    using counter = new TokenCounter({ idleMs: 1, deadlineMs: 50_000 })
    using terminate = spyOn(Worker.prototype, 'terminate')
    expect(await counter.count(['Hello'])).toBe(1)
    while (terminate.mock.calls.length === 0) await nextTurn()
    expect(await counter.count(['Hello'])).toBe(1)
  })
})

describe('decode', () => {
  test('decodes encoded text, including a byte order mark and half characters', async () => {
    const texts = ['Hello, world!', '你好 👩‍👩‍👧', '\ufeffmark', 'ŋ̊ and ⠁⠂', '']
    expect(await warm.decode(texts.map((text) => encode(text)))).toEqual(texts)
  })

  test('keeps half a character of one caller out of the next text', async () => {
    const half = encode('👩‍👩‍👧').slice(0, 1)
    const decoded = await warm.decode([half, encode('Hello')])
    expect(decoded).toEqual([expect.stringContaining('\ufffd'), 'Hello'])
    expect(await warm.decode([encode('Hello')])).toEqual(['Hello'])
  })

  test('knows the ids of markers', async () => {
    expect(await warm.decode([[100_257]])).toEqual(['<|endoftext|>'])
  })

  test.each([100_256, -1, 1.5, 4_000_000_000, Number.NaN])('rejects %p as no token', async (id) => {
    expect(await warm.decode([[1], [2, id]])).toEqual({ unknownToken: id, input: 1 })
    expect(await warm.count(['Hello'])).toBe(1)
  })

  test('decodes a million tokens', async () => {
    const tokens = [Array.from({ length: 1_000_000 }, (_, index) => index % 100_000)]
    expect(await warm.decode(tokens, { deadlineMs: 60_000 })).toHaveLength(1)
  })
})

describe('lifetime', () => {
  test('resolves waiting and later jobs with undefined once it is disposed', async () => {
    const counter = new TokenCounter()
    const waiting = [counter.count(['a']), counter.count(['b']), counter.decode([[1]])]
    counter[Symbol.dispose]()
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined])
    expect(await counter.count(['c'])).toBeUndefined()
  })

  test('does not keep the process alive', async () => {
    const script = `
      const { TokenCounter } = await import(${JSON.stringify(`${import.meta.dir}/token-counter.ts`)})
      console.log(await new TokenCounter({ deadlineMs: 50_000 }).count(['Hello']))`
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', timeout: 55_000 })
    expect(await child.exited).toBe(0)
    expect(await new Response(child.stdout).text()).toBe('1\n')
  })
})
