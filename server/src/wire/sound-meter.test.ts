import { expect, test } from 'bun:test'
import { SoundMeter } from './sound-meter'
import { wavHeader, type SpeechFormat } from './speech-format'

const silence = (bytes: number) => '\0'.repeat(bytes)

function measure(format: SpeechFormat, sound: string, pieceLength: number): number {
  const meter = new SoundMeter(format)
  for (let at = 0; at < sound.length; at += pieceLength)
    meter.add(sound.slice(at, at + pieceLength))
  return meter.ms
}

/** A frame of Layer III: the byte of its version, and that of its bit rate. */
const frameOf = (version: number, rate: number) => String.fromCodePoint(0xff, version, rate, 0)
/** A tag of 300 bytes, whose length has seven bits a byte. */
const tag = `ID3\x04\0\0\0\0\x02\x22${silence(290)}`
const wavOf = (rate: number, seconds: number) =>
  wavHeader(rate).toString('latin1') + silence(rate * 2 * seconds)

test.each<[string, SpeechFormat, string, number]>([
  ['PCM at its usual rate', 'pcm', silence(48_000), 1000],
  ['WAV of 8 kHz', 'wav', wavOf(8000, 3), 3000],
  ['WAV of 44.1 kHz', 'wav', wavOf(44_100, 1), 1000],
  ['MP3 of 128 kbit/s', 'mp3', frameOf(0xfb, 0x90) + silence(31_996), 2000],
  ['MP3 of 48 kbit/s, MPEG 2', 'mp3', frameOf(0xf3, 0x60) + silence(11_996), 2000],
  ['MP3 behind a tag', 'mp3', tag + frameOf(0xf3, 0x60) + silence(11_696), 2000],
  ['MP3 without a header', 'mp3', silence(16_000), 1000],
  ['MP3 of a free rate', 'mp3', frameOf(0xfb, 0x00) + silence(15_996), 1000],
  ['Opus by its usual rate', 'opus', silence(6000), 1500],
  ['nothing', 'wav', '', 0],
])('%s is measured, whatever its pieces', (_name, format, sound, ms) => {
  for (const pieceLength of [1, 700, 1_000_000])
    expect(measure(format, sound, pieceLength)).toBe(ms)
})
