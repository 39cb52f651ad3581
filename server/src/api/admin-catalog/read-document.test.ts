import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'bun:test'
import { readDocument } from './read-document'
import type { Answer } from '../../egress/answer'
import type { UpstreamCall } from '../../egress/egress'

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

/** A way out behind which there are these files. */
function egressWith(files: Record<string, { status: number; text: string }>) {
  const calls: Pick<UpstreamCall, 'url' | 'owner' | 'method'>[] = []
  return {
    calls,
    send: ({ url: asked, owner, method }: UpstreamCall) => {
      calls.push({ url: asked, owner, method })
      const { status, text } = files[asked] ?? { status: 404, text: 'none' }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of an answer
      return Promise.resolve({ status, text: () => Promise.resolve(text) } as unknown as Answer)
    },
  }
}

test('a document is fetched by the one way out, as the operator’s own', async () => {
  const egress = egressWith({ [url]: { status: 200, text: document } })
  const read = await readDocument({ url }, { egress, publicKey: null })
  expect(read).toMatchObject({ document: JSON.parse(document), isSigned: false })
  expect(egress.calls).toEqual([{ url, owner: null, method: 'GET' }])
})

test('its signature is beside it, and holds for every byte of it', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
  const signature = sign(null, Buffer.from(document), privateKey).toString('base64')
  const reading = (text: string, signed: string) =>
    readDocument(
      { url },
      {
        egress: egressWith({
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

test('what cannot be fetched is said with its reason', async () => {
  const egress = egressWith({})
  await expect(readDocument({ url }, { egress, publicKey: null })).rejects.toMatchObject({
    param: 'url',
    message: expect.stringContaining('status 404'),
  })
})
