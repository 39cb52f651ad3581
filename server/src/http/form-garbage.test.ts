import { expect, test } from 'bun:test'
import { FormGarbage } from './form-garbage'
import { settled } from '../../testing/clock'

const mebibyte = 1 << 20

function garbage() {
  const runtime = { bytes: 100 * mebibyte, collections: 0 }
  const forms = new FormGarbage({
    residentBytes: () => runtime.bytes,
    collect: () => {
      runtime.collections += 1
      runtime.bytes = 100 * mebibyte
    },
  })
  const receive = async (mebibytes: number, growth: number) => {
    for (let count = 0; count < mebibytes; count += 1) {
      runtime.bytes += growth * mebibyte
      forms.add(mebibyte)
      await settled()
    }
  }
  return { forms, runtime, receive }
}

test('garbage is collected once forms have added much to the memory, and again each time', async () => {
  const { forms, runtime, receive } = garbage()
  forms.begin()
  await receive(48, 1)
  expect(runtime.collections).toBe(1)
  await receive(48, 1)
  expect(runtime.collections).toBe(2)
})

test('forms that add little to the memory cause no collection', async () => {
  const { forms, runtime, receive } = garbage()
  forms.begin()
  await receive(1000, 0)
  expect(runtime.collections).toBe(0)
})

test('memory in use before the first of several forms does not count', async () => {
  const { forms, runtime, receive } = garbage()
  runtime.bytes += 500 * mebibyte
  const endFirst = forms.begin()
  const endSecond = forms.begin()
  await receive(100, 0)
  endFirst()
  endSecond()
  runtime.bytes += 500 * mebibyte
  forms.begin()
  await receive(100, 0)
  expect(runtime.collections).toBe(0)
})
