import { OpenRouter } from '@openrouter/sdk'

const { env } = process
const client = new OpenRouter({ apiKey: env.TOLLGATE_KEY, serverURL: `${env.TOLLGATE_URL}/v1` })
const listIn = (name) => JSON.parse(env[name])
const sound = Buffer.from(env.SOUND, 'base64')

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** The library does not support the case. */
class Cannot extends Error {}

const cannot = (words) => () => {
  throw new Cannot(words)
}
const notOffered = cannot('not offered')
// OpenRouter has images at a path of its own.
const otherPath = cannot('other path')

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

async function bytesOf({ model, voice, format }) {
  const speechRequest = { model, voice, input: 'Hello', responseFormat: format }
  const pieces = []
  for await (const piece of await client.tts.createSpeech({ speechRequest })) pieces.push(piece)
  return Buffer.concat(pieces)
}

const cases = {
  images: otherPath,
  'images-stream': otherPath,
  edits: otherPath,
  'edits-stream': otherPath,
  variations: notOffered,
  speech: () =>
    each(listIn('SPEAKERS'), async (speaker) => {
      // A WAV file begins with a header.
      expect((await bytesOf(speaker)).includes(sound), 'another sound')
    }),
  'speech-stream': notOffered,

  // The library sends the sound as base64 in JSON.
  transcriptions: () =>
    each(listIn('TRANSCRIPTION_MODELS'), async (model) => {
      const inputAudio = { data: env.RECORDING, format: 'wav' }
      const transcribe = (fields) =>
        client.stt.createTranscription({ sttRequest: { model, inputAudio, ...fields } })
      const { text } = await transcribe({})
      expect(text === env.TRANSCRIPT, text)
      const times = { responseFormat: 'verbose_json', timestampGranularities: ['segment'] }
      const verbose = await transcribe(times)
      expect(verbose.segments.length === 2, JSON.stringify(verbose))
    }),
  'transcriptions-stream': notOffered,
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
