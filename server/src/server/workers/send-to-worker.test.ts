import { expect, test } from 'bun:test'
import { sendToWorker } from './send-to-worker'
import { eventually } from '../../../testing/eventually'

test('a killed worker receives no message, and its launcher no error, before and after its end is reported', async () => {
  const child = Bun.spawn([process.execPath, '-e', 'process.on("message", () => undefined)'], {
    ipc: () => undefined,
  })
  expect(sendToWorker(child, { kind: 'greet' })).toBe(true)
  child.kill('SIGKILL')
  // Its end is noticed some turns of the event loop later.
  await eventually(() => !sendToWorker(child, { kind: 'greet' }))
  await child.exited
  expect(sendToWorker(child, { kind: 'greet' })).toBe(false)
})

test('without a process nothing is sent', () => {
  expect(sendToWorker(undefined, { kind: 'greet' })).toBe(false)
})

test('any other failure is thrown', () => {
  const child = {
    send: () => {
      throw new TypeError('not serializable')
    },
  }
  expect(() => sendToWorker(child, { kind: 'greet' })).toThrow(TypeError)
})
