import { describe, expect, test } from 'bun:test'
import { readSoundJson } from './transcription-json'
import { ApiError } from '../errors'

const soundOf = (data: string, format = 'wav') =>
  readSoundJson({ model: 'm', input_audio: { data, format } }).sound
const decodeAll = (data: string) => Buffer.concat([...soundOf(data).decode()])

test.each([0, 1, 2, 3, 4, 196_607, 196_608, 196_609, 500_000])(
  '%d bytes and one are decoded as they were, and counted before',
  (more) => {
    const bytes = Buffer.from(Array.from({ length: more + 1 }, (_, index) => index % 251))
    for (const data of [bytes.toString('base64'), bytes.toString('base64').replaceAll('=', '')]) {
      expect(soundOf(data).bytes).toBe(bytes.length)
      expect(decodeAll(data).equals(bytes)).toBe(true)
    }
  },
)

test.each([
  ['a data URL', 'data:audio/wav;base64,AAAA'],
  ['line breaks', 'AAAA\nAAAA'],
  ['padding inside', 'AA==AAAA'],
  ['half a byte', 'AAAAA'],
  ['padding alone', '=='],
  ['other letters', 'äöü!'],
])('%s is not base64', (_what, data) => {
  expect(() => decodeAll(data)).toThrow('must be base64')
})

test.each([
  ['wav', 'audio.wav', 'audio/wav'],
  ['MP3', 'audio.mp3', 'audio/mpeg'],
  ['m4a', 'audio.m4a', 'audio/mp4'],
  ['ogg', 'audio.ogg', 'audio/ogg'],
  ['webm', 'audio.webm', 'audio/webm'],
])('a file of the format %s is %s, %s', (format, name, type) => {
  expect(soundOf('AAAA', format)).toMatchObject({ name, type })
})

describe('a wrong field is named', () => {
  const good = { data: 'AAAA', format: 'wav' }

  test.each([
    ['no sound', undefined, 'input_audio', 'required'],
    ['no object', 'AAAA', 'input_audio', 'wrong_type'],
    ['no data', { format: 'wav' }, 'input_audio.data', 'required'],
    ['empty data', { ...good, data: '' }, 'input_audio.data', 'too_short'],
    ['no format', { data: 'AAAA' }, 'input_audio.format', 'required'],
    ['a format of texts', { ...good, format: 'docx' }, 'input_audio.format', 'bad_format'],
    ['a path', { ...good, format: '../wav' }, 'input_audio.format', 'bad_format'],
  ])('%s', (...[, input_audio, param, issue]) => {
    try {
      readSoundJson({ model: 'm', input_audio })
      throw new Error('nothing was rejected')
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      expect([thrown.param, thrown.details?.['issue']]).toEqual([param, issue])
    }
  })

  test('a file beside it', () => {
    expect(() => readSoundJson({ file: 'a.wav', input_audio: good })).toThrow('input_audio')
  })
})

test('other fields stay, but for those that are null', () => {
  const body = {
    model: 'm',
    language: null,
    temperature: 0,
    input_audio: { data: 'AAAA', format: 'wav' },
  }
  expect(readSoundJson(body).fields).toEqual({ model: 'm', temperature: 0 })
})
