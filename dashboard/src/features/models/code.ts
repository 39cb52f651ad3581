import { goText, goPost, shellText, withGoMain } from './code-text'
import { fileLanguages, isFileKind, type FileKind } from './file-code'

/** The kinds of models whose requests and answers are JSON that a reader can use as it is. */
type ExampleKind = 'chat' | 'completion' | 'embedding' | 'moderation' | 'rerank'

interface CodeExample {
  /** The address of the API, which ends with `/v1`. */
  base: string
  model: string
  category: ExampleKind
}

const paths = {
  chat: 'chat/completions',
  completion: 'completions',
  embedding: 'embeddings',
  moderation: 'moderations',
  rerank: 'rerank',
} as const satisfies Record<ExampleKind, string>

const bodyOf = ({ model, category }: CodeExample) => {
  if (category === 'embedding' || category === 'moderation') return { model, input: 'Hello!' }
  if (category === 'rerank')
    return { model, query: 'Hello!', documents: ['Hello, you!', 'Goodbye.'] }
  if (category === 'completion') return { model, prompt: 'Once upon a time' }
  return { model, messages: [{ role: 'user', content: 'Hello!' }] }
}

const urlOf = ({ base, category }: CodeExample) => `${base}/${paths[category]}`

const curl = (example: CodeExample) => `curl ${urlOf(example)} \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${shellText(JSON.stringify(bodyOf(example)))}`

/** The calls of the OpenAI clients: the method, its arguments beside the model, and the part of the answer to print. */
const clientCalls = {
  chat: {
    method: 'chat.completions.create',
    field: ['messages', '[{"role": "user", "content": "Hello!"}]'],
    result: 'choices[0].message.content',
  },
  completion: {
    method: 'completions.create',
    field: ['prompt', '"Once upon a time"'],
    result: 'choices[0].text',
  },
  embedding: {
    method: 'embeddings.create',
    field: ['input', '"Hello!"'],
    result: 'data[0].embedding',
  },
  moderation: {
    method: 'moderations.create',
    field: ['input', '"Hello!"'],
    result: 'results[0]',
  },
} as const

/** A call of an endpoint that the client has no method for. */
const pythonPost = (example: CodeExample) => `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(example.base)}, api_key=os.environ["TOLLGATE_KEY"])
answer = client.post("/${paths[example.category]}", body=${JSON.stringify(bodyOf(example))}, cast_to=object)
print(answer)`

const typescriptPost = (example: CodeExample) => `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${JSON.stringify(example.base)}, apiKey: process.env.TOLLGATE_KEY })
const answer = await client.post('/${paths[example.category]}', {
  body: ${JSON.stringify(bodyOf(example))},
})
console.log(answer)`

function python(example: CodeExample) {
  const { base, model, category } = example
  if (category === 'rerank') return pythonPost(example)
  const { method, field, result } = clientCalls[category]
  return `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(base)}, api_key=os.environ["TOLLGATE_KEY"])
answer = client.${method}(
    model=${JSON.stringify(model)},
    ${field.join('=')},
)
print(answer.${result})`
}

function typescript(example: CodeExample) {
  const { base, model, category } = example
  if (category === 'rerank') return typescriptPost(example)
  const { method, field, result } = clientCalls[category]
  return `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.TOLLGATE_KEY })
const answer = await client.${method}({
  model: ${JSON.stringify(model)},
  ${field.join(': ')},
})
console.log(answer.${result})`
}

const go = (example: CodeExample) =>
  withGoMain(
    ['fmt', 'io', 'net/http', 'os', 'strings'],
    `${goPost(urlOf(example), bodyOf(example))}
	text, err := io.ReadAll(answer.Body)
	fmt.Println(answer.Status, string(text), err)`,
  )

const java = (example: CodeExample) => `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Main {
  public static void main(String[] args) throws Exception {
    var body = ${goText(JSON.stringify(bodyOf(example)))};
    var request = HttpRequest.newBuilder(URI.create(${JSON.stringify(urlOf(example))}))
        .header("Authorization", "Bearer " + System.getenv("TOLLGATE_KEY"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(answer.statusCode() + " " + answer.body());
  }
}`

const languages = [
  { name: 'curl', code: curl },
  { name: 'Python', code: python },
  { name: 'TypeScript', code: typescript },
  { name: 'Go', code: go },
  { name: 'Java', code: java },
] as const

/** A request to a model of any kind. */
export interface ModelExample {
  base: string
  model: string
  category: ExampleKind | FileKind
}

/** Writes a request as code, in each language in which it is short. */
export function examplesOf({
  category,
  ...request
}: ModelExample): { name: string; text: string }[] {
  if (isFileKind(category)) {
    return fileLanguages[category].map(({ name, code }) => ({ name, text: code(request) }))
  }
  return languages.map(({ name, code }) => ({ name, text: code({ ...request, category }) }))
}
