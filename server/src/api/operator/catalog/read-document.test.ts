import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'bun:test'
import { readDocument, type FetchDocument } from './read-document'

const document = JSON.stringify({
  date: '2026-11-23',
  models: [
    {
      id: 'openai/x',
      name: 'X',
      category: 'chat',
      input: ['text'],
      output: ['text'],
      capabilities: [],
      created: 1,
    },
  ],
})
const url = 'https://prices.example/catalog.json'

/** What is at some addresses. */
const filesAt =
  (files: Record<string, { status: number; text: string }>): FetchDocument =>
  (address) =>
    Promise.resolve(files[address] ?? { status: 404, text: 'none' })

test('a document is read at its address', async () => {
  const fetchDocument = filesAt({ [url]: { status: 200, text: document } })
  const read = await readDocument({ url }, { fetchDocument, publicKey: null })
  expect(read).toMatchObject({ document: JSON.parse(document), isSigned: false })
})

test('its signature is beside it, and holds for every byte of it', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
  const signature = sign(null, Buffer.from(document), privateKey).toString('base64')
  const reading = (text: string, signed: string) =>
    readDocument(
      { url },
      {
        fetchDocument: filesAt({
          [url]: { status: 200, text },
          [`${url}.sig`]: { status: 200, text: signed },
        }),
        publicKey: key,
      },
    )
  expect(await reading(document, `${signature}\n`)).toMatchObject({ isSigned: true })
  for (const [text, signed] of [
    [`${document} `, signature],
    [document, ''],
    [document, 'not base64'],
  ] as const) {
    await expect(reading(text, signed)).rejects.toMatchObject({
      param: 'url',
      details: { issue: 'bad_signature' },
    })
  }
})

test('a failed fetch reports its reason', async () => {
  const fetchDocument = filesAt({})
  await expect(readDocument({ url }, { fetchDocument, publicKey: null })).rejects.toMatchObject({
    param: 'url',
    message: expect.stringContaining('status 404'),
  })
})
