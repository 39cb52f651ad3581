/** The first request in several languages, for a base URL that ends with `/v1`. */
export const snippets = [
  {
    name: 'curl',
    code: (base: string) => `curl ${base}/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  },
  {
    name: 'Python',
    code: (base: string) => `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${base}", api_key=os.environ["TOLLGATE_KEY"])
answer = client.chat.completions.create(
    model="sandbox/echo",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    name: 'JavaScript',
    code: (base: string) => `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${base}', apiKey: process.env.TOLLGATE_KEY })
const answer = await client.chat.completions.create({
  model: 'sandbox/echo',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.choices[0].message.content)`,
  },
] as const
