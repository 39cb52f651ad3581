import type { Attack } from './effect'
import { sendRequest } from '../../harness/http'

/** More than a conversation takes: the rest is rejected. */
const maxAdded = 78
const heavyItem = { role: 'user', content: 'Hello.', x: Array.from({ length: 99_000 }, () => []) }

/** An attack by requests of a hundred bytes that read as much structure as a conversation takes. */
const heavyConversation: Attack = {
  name: 'conversation of empty lists',
  async assault({ key }, { gateway }) {
    const made = await sendRequest(gateway, { key, path: '/v1/conversations', body: {} })
    const id = String(made.body['id'])
    const path = `/v1/conversations/${id}/items`
    for (let added = 0; added < maxAdded; added++) {
      const { status } = await sendRequest(gateway, { key, path, body: { items: [heavyItem] } })
      if (status !== 200) break
    }
    return { body: `conversation:${id}`, path: '/v1/responses', clients: 2, key }
  },
}

/** An attack by large inputs that are stored before they are answered. */
const largeBackground = (megabytes: number): Attack => ({
  name: `background responses with an image of ${megabytes} MB`,
  assault: ({ key }) => ({
    body: `background:${megabytes}`,
    path: '/v1/responses',
    clients: 2,
    key,
  }),
})

export const storedData = [heavyConversation, largeBackground(7), largeBackground(22)]
