// Profiles the main thread of the gateway on plain chat requests, function by function,
// with money and limits and without. Needs Linux's `perf`, and permission to use it.
// Run by: npm run bench profile [lines]
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBenchGateway, type BenchGateway } from './bench-gateway'
import { JitSymbols } from './jit-symbols'

const lines = Number(process.argv[2] ?? 50)
const warmUpRequests = 20_000
const requests = 30_000
const concurrency = 32
const samplesPerSecond = 2999

async function sendRequest({ gateway, key }: BenchGateway, model: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x'.repeat(900) }] }),
  })
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`)
  await response.text()
}

const requestMany = (count: number, one: () => Promise<void>) =>
  Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let done = 0; done < count / concurrency; done++) await one()
    }),
  )

/** Microseconds of a request by function: inclusive of its callees, and exclusive. */
interface Profile {
  inclusive: Map<string, number>
  exclusive: Map<string, number>
  total: number
}

async function profile(preload?: string): Promise<Profile> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-profile-'))
  try {
    await using bench = await startBenchGateway({
      ...(preload !== undefined && { preload }),
      environment: { BUN_JSC_useJITDump: '1', BUN_JSC_jitDumpDirectory: directory },
    })
    const model = await bench.model('ok')
    await requestMany(warmUpRequests, () => sendRequest(bench, model))
    const data = join(directory, 'perf.data')
    const thread = String(bench.gateway.pid)
    const clock = ['-k', 'CLOCK_MONOTONIC', '-F', String(samplesPerSecond)]
    const perf = Bun.spawn(['perf', 'record', ...clock, '-g', '-t', thread, '-o', data], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await Bun.sleep(300)
    await requestMany(requests, () => sendRequest(bench, model))
    perf.kill('SIGINT')
    await perf.exited
    const dump = (await readdir(directory)).find((name) => name.endsWith('.dump')) ?? ''
    return await read(data, new JitSymbols(join(directory, dump)))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function read(data: string, symbols: JitSymbols): Promise<Profile> {
  const fields = ['-F', 'time,ip', '--ns', '--no-inline']
  const script = Bun.spawn(['perf', 'script', '-i', data, ...fields], { stderr: 'ignore' })
  const profiled: Profile = { inclusive: new Map(), exclusive: new Map(), total: 0 }
  const micros = 1_000_000 / samplesPerSecond / requests
  const add = (to: Map<string, number>, name: string) => to.set(name, (to.get(name) ?? 0) + micros)
  for (const sample of (await script.stdout.text()).split('\n\n')) {
    const [head = '', ...frames] = sample.trim().split('\n')
    const [, seconds, nanos] = /(\d+)\.(\d{9}):/.exec(head) ?? []
    if (seconds === undefined || nanos === undefined) continue
    const time = BigInt(seconds + nanos)
    const names = frames.flatMap((frame) => {
      const [address] = /[0-9a-f]+/.exec(frame) ?? []
      return symbols.at(BigInt(`0x${address ?? 0}`), time) ?? []
    })
    profiled.total += micros
    add(profiled.exclusive, names[0] ?? '(no function of ours)')
    for (const name of new Set(names)) add(profiled.inclusive, name)
  }
  return profiled
}

const complete = await profile()
const without = await profile(join(import.meta.dir, 'without-money.ts'))
console.log(
  `main thread: ${complete.total.toFixed(0)} µs a request, ` +
    `${without.total.toFixed(0)} without money and limits; measuring costs some of it`,
)
for (const part of ['inclusive', 'exclusive'] as const) {
  const difference = [...complete[part]]
    .map(([name, on]) => ({ name, on, off: without[part].get(name) ?? 0 }))
    .toSorted((a, b) => b.on - b.off - (a.on - a.off))
  console.log(
    `\n${part === 'inclusive' ? 'with what they call' : 'by themselves'}: more, with, without`,
  )
  for (const { name, on, off } of difference.slice(0, lines)) {
    console.log([on - off, on, off].map((it) => it.toFixed(2).padStart(7)).join(''), name)
  }
}
