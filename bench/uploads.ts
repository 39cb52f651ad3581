// Measures the resident memory of a fresh process that has 1 GB of sound in flight, in 40 requests for transcripts whose
// provider answers none before it has all: before, at most, and after the answers.
// Run by: npm run bench uploads [rounds]
import { sendUpload } from './load/upload'
import { ownPids, residentMbOf } from './process-tree'
import { startGateway, type Gateway } from '../tests/harness/server'
import { UploadSink } from '../tests/harness/upload-sink'
import { eventually } from '../server/testing/eventually'
import { wav } from '../server/testing/sound-files'

const rounds = Number(process.argv[2] ?? 3)
const requests = 40
const soundBytes = 25 << 20
const idleSeconds = 10
const lookMs = 25
const maxWaitMs = 300_000
const sound = wav(soundBytes / 16_000)

async function registerModel(gateway: Gateway, port: number): Promise<string> {
  const base_url = `http://127.0.0.1:${port}/v1`
  await gateway.admin('POST', '/providers', {
    key: 'sink',
    name: 'Sink',
    adapter: 'openai',
    base_url,
  })
  await gateway.admin('POST', '/connections', { name: 'sink', provider: 'sink', api_key: 'secret' })
  const pricing = { input: 0, output: 0, audio_hour: 0.36 }
  const id = 'sink/ears'
  await gateway.admin('POST', '/models', { id, name: 'Ears', category: 'transcription', pricing })
  return id
}

function watchMemory(gateway: Gateway) {
  const residentMb = () => residentMbOf(ownPids([gateway.pid]))
  const watch = { beforeMb: residentMb(), maxMb: 0, residentMb }
  const timer = setInterval(() => (watch.maxMb = Math.max(watch.maxMb, residentMb())), lookMs)
  return { watch, [Symbol.dispose]: () => clearInterval(timer) }
}

async function measureUploads(): Promise<void> {
  using sink = await UploadSink.listen()
  const environment = { WORKERS: '1', LOG_LEVEL: 'warn' }
  await using gateway = await startGateway({ process: 'own', environment })
  const model = await registerModel(gateway, sink.port)
  const customers = [await gateway.customer(), await gateway.customer()]
  const port = Number(new URL(gateway.url).port)
  const send = (index: number) =>
    sendUpload({ port, key: customers[index % customers.length]?.key ?? '', model, sound })
  await Bun.sleep(idleSeconds * 1000)
  using memory = watchMemory(gateway)
  const { watch } = memory
  const startedAt = performance.now()
  const answers = Promise.all(Array.from({ length: requests }, (_, index) => send(index)))
  await eventually(() => sink.count === requests, maxWaitMs)
  const seconds = (performance.now() - startedAt) / 1000
  sink.answer()
  const failed = (await answers).filter((status) => status !== 200)
  if (failed.length > 0) throw new Error(`answers other than 200: ${failed.join(', ')}`)
  await Bun.sleep(idleSeconds * 1000)
  console.log(
    `1 GB of sound in ${requests} requests, ${seconds.toFixed(1)} s: ${watch.beforeMb.toFixed(0)} MB before, ` +
      `${watch.maxMb.toFixed(0)} at most (+${(watch.maxMb - watch.beforeMb).toFixed(0)}), ` +
      `${watch.residentMb().toFixed(0)} after`,
  )
}

for (let round = 0; round < rounds; round++) await measureUploads()
