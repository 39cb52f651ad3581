import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorOf, jsonOf, createFixture, type Fixture } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { sendRequest, type FormFields } from '../../harness/http'
import { pngOf } from '../../harness/upstreams/drawings'

const path = '/v1/images/edits'
const pricing = { input: 5, output: 0, image_input: 10, image_output: 40 }
const byToken = { category: 'image', pricing, max_output_tokens: null }
const prompt = 'At dusk'
const png = `data:image/png;base64,${pngOf(64, 64)}`
const images = [{ image_url: png }]
const xaiImage = { type: 'image_url', url: png }

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ environment: { REMOTE_URLS: '' } })
  await fixture.model('ok', byToken)
  await fixture.addProvider('xai-like', { images: { edits: 'xai' } })
  await fixture.addModel('xai-like/draw-xai', byToken)
  await fixture.addProvider('form-like', { images: { edits: 'form' } })
  await fixture.addModel('form-like/edit-form', byToken)
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const pngBytes = Buffer.from(pngOf(64, 64), 'base64')
const file = new File([pngBytes], 'lighthouse.png', { type: 'image/png' })
const untypedFile = new File([pngBytes], 'lighthouse.PNG')

const editForm = (fields: FormFields) =>
  fixture.postForm(path, { model: 'fake/ok', prompt, ...fields })

describe('a form becomes the same request as JSON', () => {
  test('with one file, a mask, numbers and booleans', async () => {
    const response = await editForm({
      image: file,
      mask: untypedFile,
      n: '2',
      stream: 'false',
      size: '1024x1024',
      user: '',
    })
    expect(response.status).toBe(200)
    expect(jsonOf(await response.json())).toMatchObject({ usage: { input_tokens: 2 + 323 } })
    expect(fixture.sent()).toEqual({
      model: 'ok',
      prompt,
      images,
      mask: { image_url: png },
      n: 2,
      stream: false,
      size: '1024x1024',
    })
  })

  test('with 16 files, in their order', async () => {
    const files = Array.from(
      { length: 16 },
      (_, index) => new File([`image ${index}`], `${index}.webp`, { type: 'image/webp' }),
    )
    const response = await editForm({ 'image[]': files })
    expect(response.status).toBe(200)
    expect(fixture.sent()['images']).toEqual(
      files.map((_, index) => ({
        image_url: `data:image/webp;base64,${Buffer.from(`image ${index}`).toString('base64')}`,
      })),
    )
  })

  test('as xAI has it', async () => {
    const response = await editForm({ model: 'xai-like/draw-xai', image: file })
    expect(response.status).toBe(200)
    expect(fixture.sent()).toEqual({ model: 'draw-xai', prompt, image: xaiImage })
  })

  test('with files that are large, and not on disk once it is answered', async () => {
    const large = new File([Buffer.alloc(11 << 20)], 'large.png', { type: 'image/png' })
    const response = await editForm({ 'image[]': [large, large] })
    expect(response.status).toBe(200)
    const { images: sent } = fixture.sent()
    const [first] = Array.isArray(sent) ? sent.map(jsonOf) : []
    expect(String(first?.['image_url'])).toHaveLength(22 + Math.ceil((11 << 20) / 3) * 4)
    await eventually(async () => (await uploads()).length === 0)
  })

  test('a repeat of it is answered once', async () => {
    const { key } = fixture.customer
    const send = () =>
      sendRequest(fixture.rig.gateway, {
        path,
        key,
        headers: { 'idempotency-key': 'edit-1' },
        form: { model: 'fake/ok', prompt, image: file },
      })
    const first = await send()
    const before = fixture.rig.upstream.requests().length
    expect((await send()).text).toBe(first.text)
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  })
})

describe('a provider that takes forms receives the files byte for byte', () => {
  const sha256 = createHash('sha256').update(pngBytes).digest('hex')
  const sentFile = (filename: string) => ({
    filename,
    type: 'image/png',
    bytes: pngBytes.length,
    sha256,
    seconds: 0,
  })
  const model = 'form-like/edit-form'

  test('of a form', async () => {
    const response = await editForm({ model, image: file, mask: file, n: '2', user: 'me' })
    expect(response.status).toBe(200)
    expect(jsonOf(await response.json())).toMatchObject({ usage: { input_tokens: 2 + 323 } })
    expect(fixture.sent()).toEqual({
      model: 'edit-form',
      prompt,
      n: '2',
      user: expect.any(String),
      image: sentFile('image-0.png'),
      mask: sentFile('mask.png'),
    })
  })

  test('of JSON, with several images', async () => {
    const response = await fixture.post(path, { model, prompt, images: [...images, ...images] })
    expect(response.status).toBe(200)
    expect(fixture.sent()).toEqual({
      model: 'edit-form',
      prompt,
      'image[]': [sentFile('image-0.png'), sentFile('image-1.png')],
    })
  })
})

const uploads = () => readdir(join(fixture.rig.gateway.dataDir, 'uploads'))

describe('the official client changes', () => {
  test.each([
    ['fake/ok', {}],
    ['xai-like/draw-xai', {}],
    ['form-like/edit-form', {}],
    ['sandbox/image', { size: '16x16' }],
  ])('one image, and several, of %s', async (model, fields) => {
    const { images: api } = fixture.client
    const one = await api.edit({ model, prompt, image: file, ...fields })
    expect(one.data).toHaveLength(1)
    const several = await api.edit({ model, prompt, image: [file, file], n: 2, ...fields })
    expect(several.data).toHaveLength(2)
  })

  test('with a mask, and streamed', async () => {
    const model = 'sandbox/image'
    const request = { model, prompt, image: file, size: '16x16' } as const
    const events = await fixture.client.images.edit({ ...request, stream: true })
    const types = []
    for await (const { type } of events) types.push(type)
    expect(types).toEqual(['image_edit.completed'])
    const masked = { model: 'fake/ok', prompt, image: file, mask: file }
    expect((await fixture.client.images.edit(masked)).data).toHaveLength(1)
    expect(fixture.sent()['mask']).toEqual({ image_url: png })
  })
})

const named = (name: string, type = 'image/png') => new File([pngBytes], name, { type })
const mebibyte = 1 << 20
const sized = (mebibytes: number) =>
  new File([Buffer.alloc(mebibytes * mebibyte)], 'a.png', { type: 'image/png' })

describe('a wrong form is rejected with the field and the reason, and not charged', () => {
  test.each<[string, FormFields, string | null, string]>([
    ['no file', {}, 'image', 'required'],
    ['a mask alone', { mask: file }, 'image', 'required'],
    ['a text as image', { image: 'lighthouse' }, 'image', 'wrong_type'],
    ['an empty file', { image: new File([], 'a.png') }, 'image', 'empty'],
    ['an empty mask', { image: file, mask: new File([], 'a.png') }, 'mask', 'empty'],
    ['too many files', { 'image[]': Array.from({ length: 17 }, () => file) }, 'image', 'too_many'],
    ['two masks', { image: file, mask: [file, file] }, 'mask', 'too_many'],
    ['a list of masks', { image: file, 'mask[]': file }, 'mask', 'wrong_type'],
    ['files by name', { 'image[first]': file }, 'image', 'wrong_type'],
    ['two files without brackets', { image: [file, file] }, 'image', 'duplicate'],
    ['a file elsewhere', { image: file, picture: file }, 'picture', 'not_allowed'],
    ['addresses too', { image: file, images: 'https://example.com' }, 'images', 'not_allowed'],
    ['sound', { image: named('a.mp3', 'audio/mpeg') }, 'image', 'wrong_type'],
    ['an unknown type', { image: named('a', '') }, 'image', 'wrong_type'],
    ['sound as mask', { image: file, mask: named('a', 'audio/wav') }, 'mask', 'wrong_type'],
    ['a name with a path', { image: named('../a.png') }, 'image', 'bad_format'],
    ['a large file', { image: sized(24) }, 'image', 'body_too_large'],
    ['large files', { 'image[]': [sized(12), sized(12)] }, null, 'body_too_large'],
    ['much more', { 'image[]': Array.from({ length: 6 }, () => sized(5)) }, null, 'body_too_large'],
    ['no prompt', { image: file, prompt: null }, 'prompt', 'required'],
    ['an empty prompt', { image: file, prompt: '' }, 'prompt', 'too_short'],
    ['a text as number', { image: file, n: 'two' }, 'n', 'wrong_type'],
    ['too many images', { image: file, n: '11' }, 'n', 'out_of_range'],
    ['a text as boolean', { image: file, stream: 'maybe' }, 'stream', 'wrong_type'],
  ])('%s', async (...[, fields, param, issue]) => {
    const before = fixture.rig.upstream.requests().length
    const response = await editForm(fields)
    const error = await errorOf(response)
    expect([response.status, error]).toMatchObject([400, { param, details: { issue } }])
    expect(response.headers.get('x-tollgate-cost')).toBeNull()
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
    await eventually(async () => (await uploads()).length === 0)
  })
})
