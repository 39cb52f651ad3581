import { z } from 'zod'
import { seconds, secondsOrNone } from './fields'
import { setting } from './setting'

/** The timeouts of each part of a request, and of the server's life. Source: contract 3.4. */
export const timeouts = z.object({
  timers: z.object({
    requestMs: setting(seconds(600), {
      name: 'REQUEST_TIMEOUT_SECONDS',
      doc: 'a whole request without a stream, all attempts together',
    }),
    firstByteMs: setting(seconds(300), {
      name: 'FIRST_BYTE_TIMEOUT_SECONDS',
      doc: "a stream until the provider's first byte",
    }),
    idleMs: setting(seconds(300), {
      name: 'IDLE_TIMEOUT_SECONDS',
      doc: 'a stream between two events or comments of the provider',
    }),
    streamMs: setting(seconds(1800), { name: 'STREAM_TIMEOUT_SECONDS', doc: 'a whole stream' }),
    connectMs: setting(seconds(3), {
      name: 'CONNECT_TIMEOUT_SECONDS',
      doc: 'connecting to a provider, for each attempt',
    }),
    earlyHeadersMs: setting(seconds(15), {
      name: 'EARLY_HEADERS_SECONDS',
      doc: 'how long the headers of a stream wait for its first event; until then failures are statuses',
    }),
    keepAliveMs: setting(seconds(15), {
      name: 'KEEP_ALIVE_SECONDS',
      doc: 'silence after which a stream gets a keep-alive comment, or event where the format has one',
    }),
    slowClientMs: setting(seconds(30), {
      name: 'SLOW_CLIENT_SECONDS',
      doc: 'a client that accepts no byte for this long counts as disconnected',
    }),
    drainMs: setting(seconds(120), {
      name: 'DRAIN_SECONDS',
      doc: 'how long a graceful shutdown lets requests finish',
    }),
    unreadyMs: setting(secondsOrNone(0), {
      name: 'UNREADY_SECONDS',
      doc: 'how long a graceful shutdown reports that it is not ready while it still serves: twice the probe interval of a load balancer ([resilience.md](resilience.md#graceful-shutdown))',
    }),
    databaseGraceMs: setting(secondsOrNone(45), {
      name: 'DATABASE_GRACE_SECONDS',
      doc: 'how long the database can be unavailable before `/readyz` is 503',
    }),
  }),
})
