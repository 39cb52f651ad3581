import { expect, test } from 'bun:test'
import { AttemptFailed } from './attempt-failed'
import { RelayProtocol } from './protocol/relay'
import { withSecondTry } from './second-try'
import { ApiError } from '../errors'
import { toCallerError, type ErrorSource } from '../providers/upstream-error'

const source: ErrorSource = {
  provider: 'fake',
  secret: null,
  textField: 'messages',
  wasSent: () => false,
  contextLength: null,
  maxOutputTokens: null,
}
const request = { operation: 'chat', body: { try: 'first' } } as const
const replacement = { operation: 'chat', body: { try: 'second' } } as const

const createProtocol = () =>
  new RelayProtocol({
    request,
    source,
    replaceRefused: () => ({ request: replacement, omitted: ['thoughts'] }),
  })

const refusal = () =>
  new AttemptFailed(toCallerError({ status: 400, body: { message: 'No.' } }, source), false)

test('a refused request is replaced once, and the protocol stays the same', async () => {
  const protocol = createProtocol()
  const tries: unknown[] = []
  const opened = withSecondTry(protocol, (isSecond) => {
    tries.push([isSecond, protocol.request.body, protocol.omitted])
    return Promise.reject(refusal())
  })
  expect(await opened.catch((thrown: unknown) => thrown)).toBeInstanceOf(AttemptFailed)
  expect(tries).toEqual([
    [false, request.body, []],
    [true, replacement.body, ['thoughts']],
  ])
})

test('a lost connection is not tried again', async () => {
  const protocol = createProtocol()
  let tries = 0
  const lost = new AttemptFailed(new ApiError('connection_failed'), true)
  const opened = withSecondTry(protocol, () => {
    tries += 1
    return Promise.reject(lost)
  })
  expect(await opened.catch((thrown: unknown) => thrown)).toBe(lost)
  expect([tries, protocol.request]).toEqual([1, request])
})
