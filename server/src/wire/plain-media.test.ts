import { expect, test } from 'bun:test'
import { ApiError } from '../errors'
import { toPlainMedia } from './plain-media'

const pdf = 'data:application/pdf;base64,JVBERi0xLjQK'
const plainOf = (part: unknown): unknown => {
  const [message] = toPlainMedia([{ role: 'user', content: [part] }])
  return message
}
const holding = (part: unknown) => ({ role: 'user', content: [part] })

test.each<[string, object, object]>([
  [
    'a PDF as an image',
    { type: 'image_url', image_url: { url: pdf }, cache_control: { type: 'ephemeral' } },
    { type: 'file', file: { file_data: pdf }, cache_control: { type: 'ephemeral' } },
  ],
  [
    'sound as an image',
    { type: 'image_url', image_url: { url: 'data:audio/x-wav;base64,UklG' } },
    { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
  ],
  [
    'sound by a URL of its data',
    { type: 'audio_url', audio_url: { url: 'data:audio/ogg;codecs=opus;base64,T2dn' } },
    { type: 'input_audio', input_audio: { data: 'T2dn', format: 'ogg' } },
  ],
  [
    'MP3 under its registered name',
    { type: 'audio_url', audio_url: { url: 'data:audio/mpeg;base64,SUQz' } },
    { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
  ],
])('finding V23: %s is read with its media type', (_what, part, expected) => {
  expect(plainOf(part)).toEqual(holding(expected))
})

test('finding V23: images, texts and files stay as they came', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    holding({ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }),
    holding({ type: 'image_url', image_url: { url: 'https://images.example/a.png' } }),
    holding({ type: 'file', file: { file_data: pdf } }),
  ]
  for (const [at, message] of toPlainMedia(messages).entries()) {
    expect(message).toBe(messages[at] ?? {})
  }
})

const refuse = () =>
  plainOf({ type: 'audio_url', audio_url: { url: 'https://sound.example/a.ogg' } })

test('finding V23: sound that would have to be fetched is rejected by name', () => {
  expect(refuse).toThrow(ApiError)
  expect(refuse).toThrow(
    expect.objectContaining({ status: 400, param: 'messages.0.content.0.audio_url.url' }),
  )
})
