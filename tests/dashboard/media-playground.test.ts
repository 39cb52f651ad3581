import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { choose } from './choose'
import { allBarriersNow } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { wavHeader } from '../../server/src/wire/speech-format'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const result = (page: Page) => page.getByRole('region', { name: 'Result' })

/** A picture of one pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const refuse = (route: Route) =>
  route.fulfill({
    status: 429,
    json: { error: { code: 'rate_limit_exceeded', message: 'Too many requests.', param: null } },
  })

describe('images in the playground', () => {
  test('are requested with their options, shown and saved', async () => {
    const page = await dashboard.open('/playground?kind=image&model=acme%2Fpainter')
    let sent: unknown
    await page.route('**/api/playground/images/generations', async (route) => {
      sent = route.request().postDataJSON()
      await route.fulfill({
        json: { created: 1, data: [{ b64_json: pixel }, { b64_json: pixel }] },
      })
    })
    expect(await page.getByRole('button', { name: 'Create image' }).isDisabled()).toBe(true)
    await page.getByLabel('Prompt').fill('A lighthouse')
    await choose(page.getByRole('combobox', { name: 'Size' }), { name: '512x512' })
    await page.getByRole('textbox', { name: 'Number' }).fill('2')
    await page.getByRole('button', { name: 'Create images' }).click()
    await result(page).getByRole('img', { name: '2: A lighthouse' }).waitFor()
    expect(sent).toEqual({
      model: 'acme/painter',
      prompt: 'A lighthouse',
      n: 2,
      size: '512x512',
      response_format: 'b64_json',
    })
    const saved = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download image 2' }).click()
    expect((await saved).suggestedFilename()).toBe('image-2.png')
    await page.getByRole('status').getByText('2 images created.').waitFor({ state: 'attached' })
    expect(await allBarriersNow(page)).toEqual([])
    await page.close()
  })

  test('requests show their failure, and stop at the press of a button', async () => {
    const page = await dashboard.open('/playground?kind=image&model=acme%2Fpainter')
    await page.route('**/api/playground/images/generations', refuse)
    await page.getByLabel('Prompt').fill('A lighthouse')
    await page.getByRole('button', { name: 'Create image' }).click()
    await result(page).getByRole('alert').getByText('Too many requests.').waitFor()
    await page.unroute('**/api/playground/images/generations')
    await page.route('**/api/playground/images/generations', () => undefined)
    await page.getByRole('button', { name: 'Create image' }).click()
    await result(page).getByRole('img', { name: 'Response in progress' }).waitFor()
    expect(await allBarriersNow(page)).toEqual([])
    await page.getByRole('button', { name: 'Stop' }).click()
    await result(page).getByText('Stopped.').waitFor()
    await page.close()
  })
})

test('speech is requested with a voice, played and saved', async () => {
  const page = await dashboard.open('/playground?kind=speech&model=acme%2Fspeaker')
  let sent: unknown
  await page.route('**/api/playground/audio/speech', async (route) => {
    sent = route.request().postDataJSON()
    await route.fulfill({ contentType: 'audio/wav', body: 'RIFF' })
  })
  await page.getByLabel('Text').fill('Good morning')
  await page.getByRole('combobox', { name: 'Voice' }).fill('coral')
  await page.getByRole('combobox', { name: 'Voice' }).press('Escape')
  await page.getByRole('button', { name: 'Create speech' }).click()
  await result(page).getByLabel('Speech', { exact: true }).waitFor()
  expect(sent).toEqual({ model: 'acme/speaker', input: 'Good morning', voice: 'coral' })
  const saved = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download the speech' }).click()
  expect((await saved).suggestedFilename()).toBe('speech.wav')
  expect(await allBarriersNow(page)).toEqual([])
  await page.close()
})

test('a recording is chosen, sent as a form, and its text copied', async () => {
  const page = await dashboard.open('/playground?kind=transcription&model=acme%2Flistener')
  let sent = ''
  await page.route('**/api/playground/audio/transcriptions', async (route) => {
    sent = route.request().postData() ?? ''
    await route.fulfill({ json: { text: 'Good morning.' } })
  })
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Audio file' }).click()
  const file = { name: 'talk.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3') }
  await (await chooser).setFiles(file)
  await page.getByRole('button', { name: 'Transcribe' }).click()
  await result(page).getByText('Good morning.').waitFor()
  expect(sent).toContain('acme/listener')
  expect(sent).toContain('filename="talk.mp3"')
  await result(page).getByRole('button', { name: 'Copy' }).waitFor()
  expect(await allBarriersNow(page)).toEqual([])
  await page.close()
})

test('the kinds of models lead to each other, and to the chat', async () => {
  const page = await dashboard.open('/playground')
  await page.getByText('Transcription', { exact: true }).click()
  await page.waitForURL(/kind=transcription/)
  await page.getByText('The transcript appears here.').waitFor()
  await page.getByText('Chat', { exact: true }).click()
  await page.getByLabel('Message').waitFor()
  await page.close()
})

test('the sandbox speaks: the request is free, has its cost, and leads to its log', async () => {
  const page = await dashboard.open('/models?model=sandbox%2Fspeech')
  await page.getByRole('link', { name: 'Try it: Sandbox Speech' }).click()
  // The page of models, still shown, has a label that contains the word.
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Good morning')
  await page.getByText('Free', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Create speech' }).click()
  await result(page).getByLabel('Speech', { exact: true }).waitFor()
  await result(page)
    .getByText(/^\$0\.00 · /)
    .waitFor()
  await result(page).getByRole('link', { name: 'View request' }).click()
  await page.getByRole('dialog').getByText('POST /v1/audio/speech').waitFor()
  await page.getByRole('link', { name: 'Open in playground' }).click()
  await page.waitForURL(/playground\?.*kind=speech/)
  await page.close()
})

test('the sandbox transcribes a recording, and an empty file shows the reason of its rejection', async () => {
  const page = await dashboard.open('/playground?kind=transcription')
  const choose = async (name: string, buffer: Buffer) => {
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Audio file' }).click()
    await (await chooser).setFiles({ name, mimeType: 'audio/wav', buffer })
    await page.getByRole('button', { name: 'Transcribe' }).click()
  }
  await choose('talk.wav', Buffer.concat([wavHeader(8000, 16_000), Buffer.alloc(16_000)]))
  await result(page).getByText('This is a simulated transcript.').waitFor()
  await result(page)
    .getByText(/^\$0\.00 · /)
    .waitFor()
  await page.reload()
  await choose('empty.wav', Buffer.alloc(0))
  await result(page).getByRole('alert').getByText('the file is empty').waitFor()
  await page.close()
})
