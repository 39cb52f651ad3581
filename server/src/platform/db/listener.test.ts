import { expect, test } from 'bun:test'
import { Client } from 'pg'
import { Listener } from './listener'
import { TestClock } from '../../../testing/clock'

/** A connection without a database: it answers each query at once. */
class AnsweringClient extends Client {
  /** Called after an answer has arrived, before its query knows it. */
  onAnswer: (sql: string) => void = () => undefined

  constructor() {
    super({ host: '127.0.0.1' })
    Object.assign(this, {
      connect: async () => undefined,
      end: async () => undefined,
      query: (sql: string) => {
        const answer = Promise.resolve()
        this.onAnswer(sql)
        return answer
      },
    })
  }
}

test('D13: a connection that is lost in the packet that answers a ping is replaced', async () => {
  const clock = new TestClock()
  const clients: AnsweringClient[] = []
  let gaps = 0
  await using listener = new Listener({
    connect: () => {
      const client = new AnsweringClient()
      clients.push(client)
      return client
    },
    subscriptions: { news: () => undefined },
    onGap: () => (gaps += 1),
    onError: () => undefined,
    clock,
  })
  await listener.start()
  const [first] = clients
  if (first) {
    first.onAnswer = (sql) => {
      if (sql === 'select 1') first.emit('error', new Error('terminating connection'))
    }
  }
  await clock.advance(2000)
  await clock.advance(200)
  expect([clients.length, gaps]).toEqual([2, 1])
})
