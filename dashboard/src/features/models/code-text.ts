/** A text in single quotes of a shell. */
export const shellText = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A text in double quotes: Go and Java read the same escapes as JSON. */
export const goText = (text: string): string => JSON.stringify(text)

/** A program in Go of its imports and the lines of its function. */
export const withGoMain = (imports: readonly string[], lines: string): string => `package main

import (
${imports.map((name) => `	"${name}"`).join('\n')}
)

func main() {
${lines}
}`

/** The lines of a function in Go that send a header with the key, and await the answer. */
export const goSend = (contentType: string): string => `	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOLLGATE_KEY"))
	request.Header.Set("Content-Type", ${contentType})
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()`

/** The lines of a function in Go that send JSON, and await the answer. */
export const goPost = (url: string, body: object): string =>
  `	body := ${goText(JSON.stringify(body))}
	request, err := http.NewRequest("POST", ${goText(url)}, strings.NewReader(body))
${goSend('"application/json"')}`
