import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  experimental_streamSpeech as streamSpeech,
  experimental_streamTranscribe as streamTranscribe,
  generateImage,
  generateSpeech,
  transcribe,
  UnsupportedFunctionalityError,
} from 'ai'

const { env } = process
const at = { baseURL: `${env.TOLLGATE_URL}/v1`, apiKey: env.TOLLGATE_KEY }
const openai = createOpenAI(at)
const compatible = createOpenAICompatible({ name: 'tollgate', ...at })
const text = 'A lighthouse at dusk'
const listIn = (name) => JSON.parse(env[name])
const bytesIn = (name) => Buffer.from(env[name], 'base64')

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** The library does not support the case. */
class Cannot extends Error {}

const notOffered = () => {
  throw new Cannot('not offered')
}

/** Runs what the library has a function for, but perhaps not with this provider; `words` say what it has. */
async function ifSupported(words, run) {
  try {
    await run()
  } catch (error) {
    const { cause = error } = error
    if (UnsupportedFunctionalityError.isInstance(cause)) throw new Cannot(words)
    throw error
  }
}

/** Runs a check with each of these models, or with what else names one; a failure tells which. */
async function each(list, check) {
  for (const one of list) {
    try {
      await check(one)
    } catch (error) {
      throw new Error(`${one.model ?? one}: ${error}`, { cause: error })
    }
  }
}

// The compatible provider asks for no form of its own, and would fetch what comes as an address.
const providerOptions = { tollgate: { response_format: 'b64_json' } }

/** Both providers of the library have models of images. */
async function draw(imageModel, asked, count) {
  for (const provider of [openai, compatible]) {
    const model = provider.imageModel(imageModel)
    const { images } = await generateImage({ model, providerOptions, ...asked })
    expect(images.length === count, `${images.length} images`)
    for (const { base64, mediaType } of images)
      expect(base64.startsWith('iVBORw0KGgo') && mediaType === 'image/png', mediaType)
  }
}

const cases = {
  images: () =>
    each(listIn('IMAGE_MODELS'), (model) =>
      draw(model, { prompt: text, n: 2, size: '1024x1024' }, 2),
    ),
  'images-stream': notOffered,
  edits: () =>
    each(listIn('EDIT_MODELS'), (model) =>
      draw(model, { prompt: { text, images: [bytesIn('PICTURE')] } }, 1),
    ),
  'edits-stream': notOffered,
  variations: notOffered,

  speech: () =>
    each(listIn('SPEAKERS'), async ({ model, voice, format: outputFormat }) => {
      const asked = { model: openai.speech(model), text: 'Hello', voice, outputFormat }
      const { audio } = await generateSpeech(asked)
      // A WAV file begins with a header.
      expect(Buffer.from(audio.uint8Array).includes(bytesIn('SOUND')), 'another sound')
    }),
  // With this provider there is no request for a stream of speech.
  'speech-stream': () =>
    ifSupported('not offered', () =>
      each(listIn('SPEAKERS'), async ({ model, voice }) => {
        const asked = { model: openai.speech(model), text: 'Hello', voice, onError: () => {} }
        const pieces = []
        for await (const piece of streamSpeech(asked).audioStream) pieces.push(piece)
        expect(Buffer.concat(pieces).includes(bytesIn('SOUND')), 'another sound')
      }),
    ),

  transcriptions: () =>
    each(listIn('TRANSCRIPTION_MODELS'), async (model) => {
      const asked = { model: openai.transcription(model), audio: bytesIn('RECORDING') }
      const answer = await transcribe(asked)
      expect(answer.text === env.TRANSCRIPT, answer.text)
    }),
  // OpenAI's models for it are called over a WebSocket, which is another interface.
  'transcriptions-stream': () =>
    ifSupported('WebSocket only', () =>
      each(listIn('TRANSCRIPTION_MODELS'), async (model) => {
        const asked = {
          model: openai.transcription(model),
          audio: new Blob([bytesIn('RECORDING')]).stream(),
          inputAudioFormat: { type: 'audio/wav' },
        }
        const text = await streamTranscribe(asked).text
        expect(text === env.TRANSCRIPT, text)
      }),
    ),
  translations: notOffered,
  moderations: notOffered,
}

for (const [name, run] of Object.entries(cases)) {
  let result
  try {
    await run()
    result = { case: name, ok: true, detail: '' }
  } catch (error) {
    result = { case: name, ok: error instanceof Cannot ? null : false, detail: error.message }
  }
  console.log(JSON.stringify(result))
}
