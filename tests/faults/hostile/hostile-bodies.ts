const messages = [{ role: 'user', content: 'Hello?' }]
const chat = (model: string, rest: object = {}) => JSON.stringify({ model, messages, ...rest })

/** Builds a chat with further fields, as text. */
const chatWith = (rest: string) => `${chat('hostile/m').slice(0, -1)},${rest}}`

const list = (count: number, item: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => item(at)).join(',')

/** Another word of six rare letters for each number. */
const wordOf = (at: number) =>
  Array.from({ length: 6 }, (_, place) => 'qzxjvkwyfpghbm'[Math.floor(at / 14 ** place) % 14]).join(
    '',
  )

/** Bodies that are cheap to send, by name. */
const bodies: Readonly<Record<string, () => string>> = {
  'logit-bias': () => chatWith(`"logit_bias":{${list(1_500_000, (at) => `"${at}":1`)}}`),
  'unknown-keys': () => chatWith(list(2_000_000, (at) => `"k${at}":1`)),
  'empty-objects': () => chatWith(`"x":[${list(10_000_000, () => '{}')}]`),
  'many-numbers': () => chatWith(`"x":[${list(15_000_000, () => '0')}]`),
  'nested-metadata': () => chatWith(`"metadata":{${list(1_000_000, (at) => `"k${at}":"v"`)}}`),
  'many-messages': () =>
    `{"model":"hostile/m","messages":[${list(700_000, () => '{"role":"user","content":"a"}')}]}`,
  'escaped-text': () => chatWith(`"user":"${'\\"'.repeat(8_000_000)}"`),
  'long-text': () => chatWith(`"user":"${'x'.repeat(16_000_000)}"`),
  // Words that no vocabulary has, each another one: the most work for a tokenizer.
  'no-prose': () => {
    const words = Array.from({ length: 60_000 }, (_, at) => wordOf(at))
    return JSON.stringify({
      model: 'victim/m',
      max_tokens: 16,
      messages: [{ role: 'user', content: words.join(' ') }],
    })
  },
  'no-json': () => '{"model": nonsense}',
  plain: () => chat('victim/m'),
  'unknown-model': () => chat('victim/unknown'),
}

/** Builds a request that is to be answered in the background, with an image of so many bytes. */
const backgroundBody = (bytes: number) => {
  const image_url = `data:image/png;base64,${'A'.repeat(bytes)}`
  const content = [{ type: 'input_image', image_url }]
  const input = [{ type: 'message', role: 'user', content }]
  return JSON.stringify({ model: 'sandbox/echo', background: true, input })
}

/** Cached, as they take seconds to build. */
const made = new Map<string, Buffer>()

/**
 * Returns the bytes of a hostile body, or of a plain one. `stream:<model>` requests a stream of a hostile provider,
 * `conversation:<id>` continues a conversation.
 */
export function bodyOf(name: string): Buffer {
  const [kind, model = ''] = name.split(':')
  if (kind === 'stream') return Buffer.from(chat(`hostile/${model}`, { stream: true }))
  if (kind === 'whole') return Buffer.from(chat(`hostile/${model}`))
  if (kind === 'conversation') {
    const request = { model: 'sandbox/echo', input: 'Hello?', conversation: model }
    return Buffer.from(JSON.stringify(request))
  }
  if (kind === 'background') return Buffer.from(backgroundBody(Number(model) * 1_000_000))
  let body = made.get(name)
  if (!body) {
    const make = bodies[name]
    if (!make) throw new Error(`there is no hostile body ${name}`)
    body = Buffer.from(make())
    made.set(name, body)
  }
  return body
}
