import { goPost, goSend, goText, shellText, withGoMain } from './code-text'

/** The kinds of models whose requests or answers are files. */
export type FileKind = 'image' | 'speech' | 'transcription'

/** A request with a file, or for one, as code. */
export interface FileExample {
  /** The address of the API, which ends with `/v1`. */
  base: string
  model: string
}

const prompt = 'A lighthouse at dusk'
const input = 'Good morning from the lighthouse.'
const voice = 'alloy'

const imageBody = ({ model }: FileExample) => ({ model, prompt })
const speechBody = ({ model }: FileExample) => ({ model, voice, input })

const imageUrl = ({ base }: FileExample) => `${base}/images/generations`
const speechUrl = ({ base }: FileExample) => `${base}/audio/speech`
const transcriptionUrl = ({ base }: FileExample) => `${base}/audio/transcriptions`

const pythonClient = (base: string) =>
  `client = OpenAI(base_url=${JSON.stringify(base)}, api_key=os.environ["TOLLGATE_KEY"])`

const typescriptClient = (base: string) =>
  `const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.TOLLGATE_KEY })`

const postJson = (url: string, body: object) => `curl ${url} \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${shellText(JSON.stringify(body))}`

const imageCurl = (example: FileExample) => postJson(imageUrl(example), imageBody(example))

const imagePython = ({ base, model }: FileExample) => `# pip install openai
import base64
import os
from openai import OpenAI

${pythonClient(base)}
answer = client.images.generate(
    model=${JSON.stringify(model)},
    prompt=${JSON.stringify(prompt)},
)
image = answer.data[0]
if image.b64_json:
    with open("image.png", "wb") as file:
        file.write(base64.b64decode(image.b64_json))
else:
    print(image.url)`

const imageTypescript = ({ base, model }: FileExample) => `// npm install openai
import { writeFile } from 'node:fs/promises'
import OpenAI from 'openai'

${typescriptClient(base)}
const answer = await client.images.generate({
  model: ${JSON.stringify(model)},
  prompt: ${JSON.stringify(prompt)},
})
const image = answer.data?.[0]
if (image?.b64_json) await writeFile('image.png', Buffer.from(image.b64_json, 'base64'))
else console.log(image?.url)`

const imageGo = (example: FileExample) =>
  withGoMain(
    ['encoding/base64', 'encoding/json', 'fmt', 'net/http', 'os', 'strings'],
    `${goPost(imageUrl(example), imageBody(example))}
	var images struct {
		Data []struct {
			B64 string \`json:"b64_json"\`
			URL string \`json:"url"\`
		} \`json:"data"\`
	}
	if err := json.NewDecoder(answer.Body).Decode(&images); err != nil || len(images.Data) == 0 {
		panic(answer.Status)
	}
	image, err := base64.StdEncoding.DecodeString(images.Data[0].B64)
	if err != nil {
		panic(err)
	}
	fmt.Println(images.Data[0].URL, os.WriteFile("image.png", image, 0o644))`,
  )

const speechCurl = (example: FileExample) =>
  `${postJson(speechUrl(example), speechBody(example))} \\
  --fail-with-body --output speech.mp3`

const speechPython = ({ base, model }: FileExample) => `# pip install openai
import os
from openai import OpenAI

${pythonClient(base)}
with client.audio.speech.with_streaming_response.create(
    model=${JSON.stringify(model)},
    voice=${JSON.stringify(voice)},
    input=${JSON.stringify(input)},
) as answer:
    answer.stream_to_file("speech.mp3")`

const speechTypescript = ({ base, model }: FileExample) => `// npm install openai
import { writeFile } from 'node:fs/promises'
import OpenAI from 'openai'

${typescriptClient(base)}
const answer = await client.audio.speech.create({
  model: ${JSON.stringify(model)},
  voice: ${JSON.stringify(voice)},
  input: ${JSON.stringify(input)},
})
await writeFile('speech.mp3', Buffer.from(await answer.arrayBuffer()))`

const speechGo = (example: FileExample) =>
  withGoMain(
    ['fmt', 'io', 'net/http', 'os', 'strings'],
    `${goPost(speechUrl(example), speechBody(example))}
	file, err := os.Create("speech.mp3")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	_, err = io.Copy(file, answer.Body)
	fmt.Println(answer.Status, err)`,
  )

const speechJava = (example: FileExample) => `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;

public class Main {
  public static void main(String[] args) throws Exception {
    var body = ${goText(JSON.stringify(speechBody(example)))};
    var request = HttpRequest.newBuilder(URI.create(${goText(speechUrl(example))}))
        .header("Authorization", "Bearer " + System.getenv("TOLLGATE_KEY"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
    var answer = HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.ofFile(Path.of("speech.mp3")));
    System.out.println(answer.statusCode());
  }
}`

const transcriptionCurl = (example: FileExample) => `curl ${transcriptionUrl(example)} \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  --form-string ${shellText(`model=${example.model}`)} \\
  -F file=@speech.mp3`

const transcriptionPython = ({ base, model }: FileExample) => `# pip install openai
import os
from openai import OpenAI

${pythonClient(base)}
with open("speech.mp3", "rb") as file:
    answer = client.audio.transcriptions.create(
        model=${JSON.stringify(model)},
        file=file,
    )
print(answer.text)`

const transcriptionTypescript = ({ base, model }: FileExample) => `// npm install openai
import { createReadStream } from 'node:fs'
import OpenAI from 'openai'

${typescriptClient(base)}
const answer = await client.audio.transcriptions.create({
  model: ${JSON.stringify(model)},
  file: createReadStream('speech.mp3'),
})
console.log(answer.text)`

const transcriptionGo = (example: FileExample) =>
  withGoMain(
    ['bytes', 'fmt', 'io', 'mime/multipart', 'net/http', 'os'],
    `	file, err := os.Open("speech.mp3")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	form.WriteField("model", ${goText(example.model)})
	part, err := form.CreateFormFile("file", "speech.mp3")
	if err != nil {
		panic(err)
	}
	if _, err = io.Copy(part, file); err != nil {
		panic(err)
	}
	form.Close()
	request, err := http.NewRequest("POST", ${goText(transcriptionUrl(example))}, &body)
${goSend('form.FormDataContentType()')}
	text, err := io.ReadAll(answer.Body)
	fmt.Println(answer.Status, string(text), err)`,
  )

interface Language {
  name: string
  code: (example: FileExample) => string
}

/**
 * The languages of each kind. Java alone has neither JSON nor forms with files without a library: there it has only what
 * it can send and save.
 */
export const fileLanguages: Readonly<Record<FileKind, readonly Language[]>> = {
  image: [
    { name: 'curl', code: imageCurl },
    { name: 'Python', code: imagePython },
    { name: 'TypeScript', code: imageTypescript },
    { name: 'Go', code: imageGo },
  ],
  speech: [
    { name: 'curl', code: speechCurl },
    { name: 'Python', code: speechPython },
    { name: 'TypeScript', code: speechTypescript },
    { name: 'Go', code: speechGo },
    { name: 'Java', code: speechJava },
  ],
  transcription: [
    { name: 'curl', code: transcriptionCurl },
    { name: 'Python', code: transcriptionPython },
    { name: 'TypeScript', code: transcriptionTypescript },
    { name: 'Go', code: transcriptionGo },
  ],
}

export const isFileKind = (category: string): category is FileKind =>
  Object.hasOwn(fileLanguages, category)
