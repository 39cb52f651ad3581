import { expect, test } from 'bun:test'
import { findImageAddresses, readDataUrl } from './media'
import { check } from '../wire/json-body'
import { ChatRequest } from '../wire/chat-request'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })

test('addresses are listed once, in order, without data and addresses that the provider reads itself', () => {
  const chat = check(ChatRequest, {
    model: 'google/x',
    messages: [
      { role: 'user', content: [image('https://a.example/1.png'), { type: 'text', text: 'x' }] },
      { role: 'assistant', content: 'https://no.example/0.png' },
      {
        role: 'user',
        content: [
          image('data:image/png;base64,AAAA'),
          image('https://own.example/2.png'),
          image('https://b.example/3.png'),
          image('https://a.example/1.png'),
        ],
      },
    ],
  })
  expect(findImageAddresses(chat, (url) => url.startsWith('https://own.'))).toEqual([
    'https://a.example/1.png',
    'https://b.example/3.png',
  ])
})

test.each([
  ['data:image/png;base64,AAAA', { mimeType: 'image/png', base64: 'AAAA' }],
  ['data:text/plain;charset=utf-8;base64,QQ==', { mimeType: 'text/plain', base64: 'QQ==' }],
  ['data:image/svg+xml;base64,', { mimeType: 'image/svg+xml', base64: '' }],
  ['data:text/plain,hello', undefined],
  ['data:;base64,AAAA', undefined],
  ['https://a.example/data:image/png;base64,AAAA', undefined],
  ['AAAA', undefined],
])('%p is read as %j', (url, media) => {
  expect(readDataUrl(url)).toEqual(media)
})
