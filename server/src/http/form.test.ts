import { afterEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BodyBudget } from './body-budget'
import { readForm } from './form'
import { FormTurns } from './form-turns'
import { renderError, toRendered } from './render'
import { UploadCounts } from './upload-counts'
import { UploadDirectory } from './upload-directory'
import type { Clock } from '../platform/clock'
import { UploadedFile } from '../wire/uploaded-file'
import { TestClock } from '../../testing/clock'
import { eventually } from '../../testing/eventually'

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]()
})

const mebibyte = 1 << 20
const limits = { files: { file: 1, image: 2 }, maxFileBytes: 4 * mebibyte }

/** A server that answers with the form it has read, and the names of the files that are on disk meanwhile. */
async function formServer(read?: (file: UploadedFile) => Promise<unknown>, clock?: Clock) {
  const dataDir = await mkdtemp(join(tmpdir(), 'form-'))
  const directory = await UploadDirectory.open(dataDir)
  const budget = new BodyBudget({ bytes: 64 * mebibyte })
  const uploads = { directory, budget, turns: new FormTurns(), counts: new UploadCounts() }
  const listed = () => readdir(join(dataDir, 'uploads'))
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 ** 40,
    fetch: async (request, own) => {
      try {
        const reading = { limits, uploads, owner: 'account', server: own, ...(clock && { clock }) }
        await using form = await readForm(request, reading)
        const { file } = form.body
        const more = read && file instanceof UploadedFile ? await read(file) : undefined
        return Response.json({ body: form.body, files: (await listed()).length, more })
      } catch (thrown) {
        return renderError(toRendered(thrown), 'req_1')
      }
    },
  })
  open.push({
    [Symbol.asyncDispose]: async () => {
      await server.stop(true)
      budget[Symbol.dispose]()
      await rm(dataDir, { recursive: true })
    },
  })
  const post = (body: string | FormData, headers: Record<string, string> = {}) =>
    fetch(server.url, { method: 'POST', body, headers })
  return { server, post, listed, budget, dataDir }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const formOf = (fields: readonly (readonly [string, string | File])[]) => {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  return form
}

test('fields and files arrive as one object, and the files are gone when it is disposed of', async () => {
  const { post, listed, budget } = await formServer()
  const content = 'sound'
  const response = await post(
    formOf([
      ['model', 'whisper'],
      ['words[]', 'a'],
      ['words[]', 'b'],
      ['strategy[type]', 'vad'],
      ['strategy[ms]', '5'],
      ['image[]', new File(['1'], 'one.png', { type: 'image/png' })],
      ['image[]', new File(['22'], 'zwei ü.png', { type: 'image/png' })],
      ['file', new File([content], 'a.mp3', { type: 'audio/mpeg' })],
    ]),
  )
  expect(await response.json()).toEqual({
    files: 3,
    body: {
      model: 'whisper',
      words: ['a', 'b'],
      strategy: { type: 'vad', ms: '5' },
      image: [
        { filename: 'one.png', content_type: 'image/png', bytes: 1, sha256: sha256('1') },
        { filename: 'zwei ü.png', content_type: 'image/png', bytes: 2, sha256: sha256('22') },
      ],
      file: { filename: 'a.mp3', content_type: 'audio/mpeg', bytes: 5, sha256: sha256(content) },
    },
  })
  await eventually(async () => (await listed()).length === 0 && budget.bytes === 0)
})

test('a file is read as often as it is needed, byte for byte, and only by its owner', async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(64 * 1024))
  const content = new Uint8Array(3 * mebibyte)
  for (let at = 0; at < content.length; at += bytes.length) content.set(bytes, at)
  const { post } = await formServer(async (file) => {
    const reads = []
    for (let count = 0; count < 2; count += 1) {
      const hash = createHash('sha256')
      for await (const piece of file.read()) hash.update(piece)
      reads.push(hash.digest('hex'))
    }
    return { reads, mode: (await stat(file.path)).mode & 0o777 }
  })
  const response = await post(formOf([['file', new File([content], 'a.wav')]]))
  const digest = createHash('sha256').update(content).digest('hex')
  expect(await response.json()).toMatchObject({ more: { reads: [digest, digest], mode: 0o600 } })
})

const file = (text = 'x', name = 'a.mp3') => ['file', new File([text], name)] as const
const many = (count: number) =>
  Array.from({ length: count }, (_, index) => [`f${index}`, 'x'] as const)

test.each([
  ['a file that is empty', [file('')], 'file', 'empty'],
  ['two files', [file(), file()], 'file', 'too_many'],
  ['a file in a field of another name', [['data', file()[1]]], 'data', 'not_allowed'],
  ['a text in place of a file', [['file', 'text']], 'file', 'wrong_type'],
  ['a name with a path', [file('x', '../../etc/passwd')], 'file', 'bad_format'],
  ['a name with a path of Windows', [file('x', 'C:\\a.mp3')], 'file', 'bad_format'],
  ['a name that is too long', [file('x', 'a'.repeat(300))], 'file', 'too_long'],
  ['a file that is too large', [file('x'.repeat(5 * mebibyte))], 'file', 'body_too_large'],
  ['a part bomb', many(101), null, 'too_many'],
  ['a field of a megabyte', [['prompt', 'x'.repeat(mebibyte + 1)]], 'prompt', 'too_long'],
  [
    'fields that are long together',
    [1, 2, 3].map((one) => [`f${one}`, 'x'.repeat(900_000)]),
    'f3',
    'too_long',
  ],
  ['a name of a field that is too long', [['n'.repeat(101), 'x']], null, 'bad_format'],
  [
    'a field that comes twice',
    [
      ['model', 'a'],
      ['model', 'b'],
    ],
    'model',
    'duplicate',
  ],
  [
    'a list that is an object too',
    [
      ['a[]', 'x'],
      ['a[b]', 'x'],
    ],
    'a',
    'wrong_type',
  ],
  ['a prototype', [['__proto__[x]', 'x']], '__proto__[x]', 'not_allowed'],
] as [string, (readonly [string, string | File])[], string | null, string][])(
  '%s is rejected with the field and the reason, and nothing remains of it',
  async (...[, fields, param, issue]) => {
    const { post, listed, budget } = await formServer()
    const response = await post(formOf(fields))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param, details: { issue } } })
    expect(await listed()).toEqual([])
    expect(budget.bytes).toBe(0)
  },
)

test.each([
  ['JSON', '{}', { 'content-type': 'application/json' }, 'wrong_content_type'],
  ['no boundary', 'x', { 'content-type': 'multipart/form-data' }, 'wrong_content_type'],
  ['garbage', 'garbage', { 'content-type': 'multipart/form-data; boundary=b' }, 'bad_format'],
  [
    'a form that ends in the middle of its file',
    '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
    { 'content-type': 'multipart/form-data; boundary=b' },
    'bad_format',
  ],
  [
    'a compressed form',
    'x',
    { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': 'gzip' },
    'wrong_content_type',
  ],
])('%s is rejected as a form', async (...[, body, headers, issue]) => {
  const { post, listed } = await formServer()
  const response = await post(body, headers)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { details: { issue } } })
  expect(await listed()).toEqual([])
})

test('a declared length beyond the maximum is rejected before it is read', async () => {
  const { server } = await formServer()
  const socket = connect({ host: '127.0.0.1', port: server.port ?? 0 })
  let text = ''
  socket.on('data', (bytes) => (text += bytes.toString()))
  socket.write(
    'POST / HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 629145600\r\n\r\n',
  )
  await eventually(() => text.includes('body_too_large'))
  expect(text).toContain('"param":"file"')
  socket.destroy()
})

test('a form that stops arriving is rejected, and its connection closes', async () => {
  const clock = new TestClock()
  const { server, listed } = await formServer(undefined, clock)
  const socket = connect({ host: '127.0.0.1', port: server.port ?? 0 })
  let text = ''
  socket.on('data', (bytes) => (text += bytes.toString()))
  socket.write(
    'POST / HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 90000\r\n\r\n' +
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
  )
  await eventually(async () => (await listed()).length === 1)
  // The silence counts from the read that follows, which may begin after a step.
  await eventually(async () => {
    await clock.advance(1000)
    return text.includes('too slowly')
  })
  expect(text).toContain('HTTP/1.1 400')
  expect(text).toContain('"param":"file"')
  await eventually(async () => (await listed()).length === 0)
  socket.destroy()
})

test('a disk that cannot be written makes a form unavailable, and not invalid', async () => {
  const { post, dataDir } = await formServer()
  await rm(join(dataDir, 'uploads'), { recursive: true })
  const response = await post(formOf([file()]))
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ error: { code: 'gateway_unavailable' } })
})

test('files of a process that crashed are removed at the next start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'form-'))
  open.push({ [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }) })
  const before = await UploadDirectory.open(dataDir)
  await writeFile(before.newPath(), 'left behind')
  await UploadDirectory.open(dataDir)
  expect(await readdir(join(dataDir, 'uploads'))).toEqual([])
  expect((await stat(join(dataDir, 'uploads'))).mode & 0o777).toBe(0o700)
})
