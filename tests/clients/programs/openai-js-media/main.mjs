import OpenAI, { toFile } from 'openai'

const { env } = process
const client = new OpenAI({ baseURL: `${env.TOLLGATE_URL}/v1`, apiKey: env.TOLLGATE_KEY })
const prompt = 'A lighthouse at dusk'
const listIn = (name) => JSON.parse(env[name])
const bytesIn = (name) => Buffer.from(env[name], 'base64')
const png = 'iVBORw0KGgo'

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

const picture = () => toFile(bytesIn('PICTURE'), 'lighthouse.png', { type: 'image/png' })
const recording = () => toFile(bytesIn('RECORDING'), 'talk.wav', { type: 'audio/wav' })

/** Runs a check with each of these models, or with what else names one; a failure tells which. */
async function each(list, check) {
  for (const one of list) {
    try {
      await check(one, one === list[0])
    } catch (error) {
      throw new Error(`${one.model ?? one}: ${error}`, { cause: error })
    }
  }
}

function expectImages(answer, count) {
  expect(answer.data.length === count, `${answer.data.length} images`)
  for (const { b64_json: data } of answer.data) expect(data?.startsWith(png), 'no PNG')
}

async function expectEvents(stream, prefix, partials) {
  const types = []
  for await (const event of stream) {
    expect(event.b64_json.startsWith(png), 'no PNG')
    types.push(event.type)
  }
  const expected = [...Array(partials).fill(`${prefix}.partial_image`), `${prefix}.completed`]
  expect(types.join() === expected.join(), types.join())
}

const cases = {
  images: () =>
    each(listIn('IMAGE_MODELS'), async (model) => {
      const asked = { model, prompt, n: 2, size: '1024x1024', response_format: 'b64_json' }
      expectImages(await client.images.generate(asked), 2)
    }),

  'images-stream': () =>
    each(listIn('IMAGE_MODELS'), async (model, isFirst) => {
      const asked = { model, prompt, partial_images: 2, response_format: 'b64_json' }
      const stream = await client.images.generate({ ...asked, stream: true })
      await expectEvents(stream, 'image_generation', isFirst ? 2 : 0)
    }),

  edits: () =>
    each(listIn('EDIT_MODELS'), async (model) => {
      expectImages(await client.images.edit({ model, prompt, image: await picture() }), 1)
      const image = [await picture(), await picture()]
      expectImages(await client.images.edit({ model, prompt, image }), 1)
    }),

  'edits-stream': () =>
    each(listIn('EDIT_MODELS'), async (model, isFirst) => {
      const asked = { model, prompt, image: await picture(), stream: true }
      const stream = await client.images.edit({ ...asked, ...(isFirst && { partial_images: 2 }) })
      await expectEvents(stream, 'image_edit', isFirst ? 2 : 0)
    }),

  variations: () =>
    each(listIn('VARIATIONS'), async ({ model, format }) => {
      const asked = { model, image: await picture(), n: 2, response_format: format }
      const answer = await client.images.createVariation(asked)
      if (format === 'b64_json') return expectImages(answer, 2)
      const addresses = answer.data.filter(({ url }) => url?.startsWith('https://'))
      expect(addresses.length === 2, JSON.stringify(answer))
    }),

  speech: () =>
    each(listIn('SPEAKERS'), async ({ model, voice, format }) => {
      const asked = { model, voice, input: 'Hello', response_format: format }
      const answer = await client.audio.speech.create(asked)
      // A WAV file begins with a header.
      const isSound = Buffer.from(await answer.arrayBuffer()).includes(bytesIn('SOUND'))
      expect(isSound, 'another sound')
    }),

  'speech-stream': () =>
    each(listIn('SPEAKERS'), async ({ model, voice, format }) => {
      const asked = { model, voice, input: 'Hello', response_format: format }
      const pieces = []
      for await (const piece of (await client.audio.speech.create(asked)).body) pieces.push(piece)
      expect(Buffer.concat(pieces).includes(bytesIn('SOUND')), 'another sound')
      const events = await client.audio.speech.create({ ...asked, stream_format: 'sse' })
      const text = await events.text()
      expect(text.includes('speech.audio.done'), text.slice(-200))
    }),

  transcriptions: () =>
    each(listIn('TRANSCRIPTION_MODELS'), async (model) => {
      const { text } = await client.audio.transcriptions.create({ model, file: await recording() })
      expect(text === env.TRANSCRIPT, text)
      const verbose = await client.audio.transcriptions.create({
        model,
        file: await recording(),
        response_format: 'verbose_json',
        timestamp_granularities: ['segment'],
      })
      expect(verbose.segments.length === 2, JSON.stringify(verbose))
      const asked = { model, file: await recording(), response_format: 'srt' }
      const srt = await client.audio.transcriptions.create(asked)
      expect(srt.startsWith('1\n00:00:00,000 --> '), srt)
    }),

  'transcriptions-stream': () =>
    each(listIn('TRANSCRIPTION_MODELS'), async (model) => {
      const asked = { model, file: await recording(), stream: true }
      let text = ''
      let done
      for await (const event of await client.audio.transcriptions.create(asked)) {
        if (event.type === 'transcript.text.delta') text += event.delta
        else done = event
      }
      expect(text === env.TRANSCRIPT && done.text === text, text)
    }),

  translations: () =>
    each(listIn('TRANSLATION_MODELS'), async (model) => {
      const translate = async (fields) =>
        client.audio.translations.create({ model, file: await recording(), ...fields })
      const { text } = await translate({})
      expect(text === env.TRANSCRIPT, text)
      const srt = await translate({ response_format: 'srt' })
      expect(srt.startsWith('1\n00:00:00,000 --> '), srt)
    }),

  moderations: () =>
    each(listIn('MODERATION_MODELS'), async (model) => {
      const input = ['Good morning', 'Plain violence_and_threats']
      const { results } = await client.moderations.create({ model, input })
      // `flagged` is OpenAI's alone.
      const found = results.map(({ categories }) => Object.values(categories).includes(true))
      expect(found.join() === 'false,true', JSON.stringify(results))
    }),
}

for (const [name, run] of Object.entries(cases)) {
  let result
  try {
    await run()
    result = { case: name, ok: true, detail: '' }
  } catch (error) {
    result = { case: name, ok: false, detail: String(error) }
  }
  console.log(JSON.stringify(result))
}
