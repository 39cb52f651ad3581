import { afterEach, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BodyBudget } from './body-budget'
import { storeFile } from './stored-file'
import { UploadDirectory } from './upload-directory'
import { ApiError } from '../errors'
import { settled } from '../../testing/clock'

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]()
})

const mebibyte = 1 << 20

async function createUploads(maxBytes: number) {
  const dataDir = await mkdtemp(join(tmpdir(), 'stored-'))
  const budget = new BodyBudget({ bytes: maxBytes, unsentMs: Infinity })
  const directory = await UploadDirectory.open(dataDir)
  open.push({
    [Symbol.asyncDispose]: async () => {
      budget[Symbol.dispose]()
      await rm(dataDir, { recursive: true })
    },
  })
  const listed = () => readdir(join(dataDir, 'uploads'))
  return { uploads: { budget, directory }, listed }
}

const facts = { name: 'audio.wav', type: 'audio/wav', bytes: 5 }
const pieces = [Buffer.from('one'), Buffer.from('23')]
const { signal } = new AbortController()

function* breakingPieces(): Generator<Uint8Array, void> {
  yield Buffer.from('one')
  throw new Error('no base64')
}

test('a file is on disk until it is disposed of', async () => {
  const { uploads, listed } = await createUploads(8 * mebibyte)
  const storedFile = await storeFile(facts, pieces, { uploads, owner: 'account', signal })
  expect(await storedFile.file.readWhole()).toEqual(Buffer.from('one23'))
  expect(storedFile.file.toJSON()).toMatchObject({
    filename: 'audio.wav',
    content_type: 'audio/wav',
    bytes: 5,
  })
  expect(await listed()).toHaveLength(1)
  await storedFile[Symbol.asyncDispose]()
  expect(await listed()).toEqual([])
})

test('nothing remains of a file whose text is broken', async () => {
  const { uploads, listed } = await createUploads(8 * mebibyte)
  const storing = storeFile(facts, breakingPieces(), { uploads, owner: 'account', signal })
  await expect(storing).rejects.toThrow('no base64')
  expect(await listed()).toEqual([])
})

test('a file waits for room, and gives up its place when its client disconnects', async () => {
  const { uploads, listed } = await createUploads(mebibyte)
  const owner = 'account'
  const first = await storeFile(facts, pieces, { uploads, owner, signal })
  const client = new AbortController()
  const waitingFile = storeFile(facts, pieces, { uploads, owner, signal: client.signal })
  const refusal = waitingFile.catch((thrown: unknown) => thrown)
  client.abort()
  expect(await refusal).toBeInstanceOf(ApiError)
  const second = storeFile(facts, pieces, { uploads, owner, signal })
  await settled()
  expect(await listed()).toHaveLength(1)
  await first[Symbol.asyncDispose]()
  await using storedFile = await second
  expect(storedFile.file.bytes).toBe(5)
})
