import { describe, expect, test } from 'bun:test'
import { refusal, turnsOf, user } from '../../../testing/providers/google-chat'

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }
const inlineImage = { inlineData: { mimeType: 'image/png', data: 'iVBO' } }
const partsOf = (...content: unknown[]) => turnsOf([user(content)])
const turn = (...parts: unknown[]) => [{ role: 'user', parts }]
const at = (url: string) => ({ type: 'image_url', image_url: { url } })
const file = (fields: object) => ({ type: 'file', file: fields })

describe('media', () => {
  const video = 'https://www.youtube.com/watch?v=abc'
  const uploaded = 'https://generativelanguage.googleapis.com/v1beta/files/x1'

  test('data, sound and documents stand in the request', () => {
    expect(
      partsOf(
        image,
        { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
        { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
        file({ file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' }),
      ),
    ).toEqual(
      turn(
        inlineImage,
        { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
        { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
        { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
      ),
    )
  })

  test.each([
    ['wav', 'wav'],
    ['MP3', 'mp3'],
    ['mpeg', 'mp3'],
    ['mpga', 'mp3'],
    ['x-wav', 'wav'],
    ['wave', 'wav'],
    ['aif', 'aiff'],
    ['aiff', 'aiff'],
    ['aac', 'aac'],
    ['x-aac', 'aac'],
    ['ogg', 'ogg'],
    ['oga', 'ogg'],
    ['opus', 'opus'],
    ['flac', 'flac'],
    ['x-flac', 'flac'],
    ['m4a', 'm4a'],
    ['x-m4a', 'm4a'],
    ['mp4', 'mp4'],
    ['pcm', 'pcm'],
    ['webm', 'webm'],
  ])('sound as %s is sent as audio/%s', (format, name) => {
    expect(partsOf({ type: 'input_audio', input_audio: { data: 'UklG', format } })).toEqual(
      turn({ inlineData: { mimeType: `audio/${name}`, data: 'UklG' } }),
    )
  })

  test.each(['pcm16', 'g711', 'midi', 'constructor'])('sound as %s is rejected', (format) => {
    const sound = { type: 'input_audio', input_audio: { data: 'UklG', format } }
    expect(() => partsOf(sound)).toThrow(
      refusal('messages.0.content.0.input_audio.format', 'unsupported_by_model'),
    )
  })

  test('addresses on Google’s own sites are named', () => {
    expect(partsOf(at(video), at(uploaded), file({ file_id: 'gs://b/o.pdf' }))).toEqual(
      turn(
        { fileData: { fileUri: video, mimeType: 'video/mp4' } },
        { fileData: { fileUri: uploaded } },
        { fileData: { fileUri: 'gs://b/o.pdf' } },
      ),
    )
  })

  test('an address is sent as its fetched content', () => {
    const media = new Map([['https://a.example/1', { mimeType: 'image/webp', base64: 'Ukl' }]])
    expect(turnsOf([user([at('https://a.example/1')])], 'gemini-2.5-pro', { media })).toEqual(
      turn({ inlineData: { mimeType: 'image/webp', data: 'Ukl' } }),
    )
  })

  test.each([
    [at('https://a.example/1'), 'image_url.url', 'unsupported_by_model'],
    [at('https://youtube.com.evil.example/watch?v=a'), 'image_url.url', 'unsupported_by_model'],
    [file({ file_id: 'file-123' }), 'file.file_id', 'unsupported_by_model'],
    [file({ file_data: 'JVBE' }), 'file.file_data', 'bad_format'],
    [file({}), 'file.file_data', 'required'],
  ])('%j is rejected by its path', (part, field, issue) => {
    expect(() => partsOf({ type: 'text', text: 'a' }, part)).toThrow(
      refusal(`messages.0.content.1.${field}`, issue),
    )
  })
})
