import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from '../../harness/http'
import { startGateway, type Gateway } from '../../harness/server'
import { UploadSink } from '../../harness/upload-sink'
import { eventually } from '../../../server/testing/eventually'
import { wav } from '../../../server/testing/sound-files'

const mebibyte = 1 << 20
const requests = 40
const fileBytes = 25 * mebibyte
let gateway: Gateway
let directory: string
let sink: UploadSink

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uploads-'))
  await writeFile(join(directory, 'talk.wav'), wav(fileBytes / 16_000))
  sink = await UploadSink.listen()
  gateway = await startGateway({ process: 'own' })
  await gateway.admin('POST', '/providers', {
    key: 'sink',
    name: 'Sink',
    adapter: 'openai',
    base_url: `http://127.0.0.1:${sink.port}/v1`,
  })
  await gateway.admin('POST', '/connections', { name: 'sink', provider: 'sink', api_key: 'secret' })
  const pricing = { input: 0, output: 0, audio_hour: 0.36 }
  const model = { id: 'sink/ears', name: 'Ears', category: 'transcription', pricing }
  await gateway.admin('POST', '/models', model)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  sink[Symbol.dispose]()
  await rm(directory, { recursive: true })
})

test('1 GB of sound in 40 requests at once is on disk until it is answered', async () => {
  const customers = [await gateway.customer(), await gateway.customer()]
  const file = Bun.file(join(directory, 'talk.wav'))
  const send = async (index: number) => {
    const form = new FormData()
    form.append('model', 'sink/ears')
    form.append('file', file, 'talk.wav')
    const key = customers[index % customers.length]?.key ?? ''
    const headers = { authorization: `Bearer ${key}` }
    const url = `${gateway.url}/v1/audio/transcriptions`
    return (await gateway.recorder.fetch(url, { method: 'POST', headers, body: form })).status
  }
  const answers = Promise.all(Array.from({ length: requests }, (_, index) => send(index)))
  await eventually(() => sink.count === requests, 200_000)
  const files = await readdir(join(gateway.dataDir, 'uploads'))
  expect(files).toHaveLength(requests)
  sink.answer()
  expect(await answers).toEqual(Array(requests).fill(200))
  await eventually(async () => (await readdir(join(gateway.dataDir, 'uploads'))).length === 0)
}, 300_000)

test('a killed process leaves files that its next start removes', async () => {
  const left = join(gateway.dataDir, 'uploads', 'left')
  await writeFile(left, 'a file of a request that a kill has ended')
  await gateway.stop('SIGKILL')
  await using next = await startGateway({ process: 'own', dataDir: gateway.dataDir })
  expect(await readdir(join(next.dataDir, 'uploads'))).toEqual([])
  const answer = await request(next, { path: '/v1/audio/transcriptions', form: {} })
  expect(answer.status).toBe(401)
})
