import { expect, test } from 'bun:test'
import { findStopSequence, readMatchedStop, unnamedStop } from './stop-sequence'

test.each([
  ['vLLM', { stop_reason: 'END' }, 'END'],
  ['vLLM, by a token', { stop_reason: 128_009 }, undefined],
  ['SGLang', { matched_stop: 'END' }, 'END'],
  ['SGLang, by a token', { matched_stop: 2 }, undefined],
  ['OpenRouter, which does not name it', { native_finish_reason: 'stop_sequence' }, unnamedStop],
  ['a server without a field for it', {}, undefined],
])('finding V21: the end of an answer is read from %s', (_server, choice, matched) => {
  expect(readMatchedStop(choice)).toBe(matched)
})

test.each<[string | undefined, string[], string | null | undefined]>([
  ['END', ['STOP', 'END'], 'END'],
  ['eos', ['STOP', 'END'], undefined],
  [unnamedStop, ['END'], 'END'],
  [unnamedStop, ['STOP', 'END'], null],
  [unnamedStop, [], undefined],
  [undefined, ['END'], undefined],
])('finding V21: %p, of the requested %p, is %p', (matched, requested, expected) => {
  expect(findStopSequence(matched, requested)).toBe(expected)
})
