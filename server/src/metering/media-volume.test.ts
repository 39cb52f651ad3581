import { expect, test } from 'bun:test'
import { hasSound, measureMedia } from './media-volume'

const mediaOf = (...content: object[]) => measureMedia([{ role: 'user', content }])
const none = { images: 0, soundLengths: [], speechLengths: [], audioTurns: 0, fileLengths: [] }
const png = 'data:image/png;base64,iVBO'
const pdf = 'data:application/pdf;base64,JVBE'
const [ogg, mp3] = ['data:audio/ogg;base64,T2dn', 'data:audio/mpeg;base64,SUQz']

test.each<[string, object, object, number]>([
  ['an image', { type: 'image_url', image_url: { url: png } }, { images: 1 }, png.length],
  [
    'an image by its address',
    { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
    { images: 1 },
    0,
  ],
  [
    'a PDF as an image',
    { type: 'image_url', image_url: { url: pdf } },
    { fileLengths: [pdf.length] },
    pdf.length,
  ],
  [
    'WAV',
    { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
    { soundLengths: [4] },
    4,
  ],
  [
    'Ogg',
    { type: 'input_audio', input_audio: { data: 'T2dn', format: 'ogg' } },
    { speechLengths: [4] },
    4,
  ],
  [
    'Ogg by a URL of its data',
    { type: 'audio_url', audio_url: { url: ogg } },
    { speechLengths: [ogg.length] },
    ogg.length,
  ],
  [
    'MP3 by a URL of its data',
    { type: 'audio_url', audio_url: { url: mp3 } },
    { soundLengths: [mp3.length] },
    mp3.length,
  ],
  [
    'sound by its address, of any length',
    { type: 'audio_url', audio_url: { url: 'https://sound.example/a.ogg' } },
    { fileLengths: [0] },
    0,
  ],
])('finding V23: the hold of %s is the one of its media type', (...row) => {
  const [, part, media, dataLength] = row
  const measured = mediaOf(part)
  expect(measured).toEqual({ media: { ...none, ...media }, dataLength })
  expect(hasSound(measured.media)).toBe(!('images' in media))
})
