import { expect, test } from 'bun:test'
import { SoundMeter } from './sound-meter'
import { wavHeader, type SpeechFormat } from './speech-format'
import { flac, mp3, ogg } from '../../testing/sound-files'

const silence = (bytes: number) => '\0'.repeat(bytes)
const textOf = (sound: Buffer) => sound.toString('latin1')

function measure(format: SpeechFormat, sound: string, pieceLength: number): number {
  const meter = new SoundMeter(format)
  for (let at = 0; at < sound.length; at += pieceLength)
    meter.add(sound.slice(at, at + pieceLength))
  return meter.ms
}

/** A frame of MPEG 2, Layer III: 24 ms of 48 kbit/s at 24 kHz. */
const shortFrame = '\xff\xf3\x64\xc0' + silence(140)
/** 300 bytes, which the length has in seven bits a byte. */
const tag = `ID3\x04\0\0\0\0\x02\x22${silence(290)}`
/** A frame of 1,024 samples at 24 kHz, in 107 bytes. */
const aacFrame = '\xff\xf1\x58\x40\x0d\x7f\xfc' + silence(100)
const wavOf = (rate: number, seconds: number) =>
  textOf(wavHeader(rate)) + silence(rate * 2 * seconds)

const sounds: readonly [string, SpeechFormat, string, number][] = [
  ['PCM at its usual rate', 'pcm', silence(48_000), 1000],
  ['WAV of 8 kHz', 'wav', wavOf(8000, 3), 3000],
  ['WAV of 44.1 kHz', 'wav', wavOf(44_100, 1), 1000],
  ['MP3 of MPEG 1', 'mp3', textOf(mp3(98)), 2560],
  ['MP3 of several bit rates', 'mp3', textOf(mp3(98, 'variable')), 2560],
  ['MP3 of MPEG 2', 'mp3', shortFrame.repeat(50), 1200],
  ['MP3 between tags', 'mp3', `${tag}${shortFrame.repeat(50)}TAG${silence(125)}`, 1200],
  ['MP3 that ends in something else', 'mp3', shortFrame.repeat(50) + silence(1600), 1300],
  ['MP3 without frames', 'mp3', silence(16_000), 1000],
  ['MP3 of a free bit rate', 'mp3', `\xff\xfb\0\xc0${silence(15_996)}`, 1000],
  ['AAC', 'aac', aacFrame.repeat(75), 3200],
  ['AAC without frames', 'aac', silence(8000), 1000],
  ['Opus in Ogg', 'opus', textOf(ogg(7)), 7000],
  ['Opus without pages', 'opus', silence(6000), 1500],
  ['FLAC with its length', 'flac', textOf(flac(4)), 4000],
  ['FLAC of unknown length', 'flac', textOf(flac(0)).padEnd(24_000, '\0'), 1000],
  ['nothing', 'wav', '', 0],
]

test.each(sounds)('%s is measured, in pieces of any length', (...[, format, sound, ms]) => {
  for (const pieceLength of [1, 7, 700, 1_000_000])
    expect(measure(format, sound, pieceLength)).toBe(ms)
})
