import { Button, Group, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { Problem } from '../../components/problem'
import { useSubmit } from '../../components/use-submit'
import { filledIn, selectablePromptsQuery } from '../prompts/queries'

interface Props {
  onMessage: (text: string) => void
  onSystem: (text: string) => void
  onClose: () => void
}

/** Selects a saved prompt, fills in its variables, and uses it as the message or as the system prompt. */
export function SavedPrompts({ onMessage, onSystem, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 200)
  const [id, setId] = useState<string | null>(null)
  const [values, setValues] = useState<Record<string, string>>({})
  const { data: prompts = [], error: loadError } = useQuery(selectablePromptsQuery(search))
  const prompt = prompts.find((one) => one.id === id)
  const text = prompt ? filledIn(prompt.content, values) : ''
  const { submit, isBusy, error } = useSubmit(async (use: (text: string) => void) => {
    if (!prompt) return
    const params = { path: { id: prompt.id } }
    await api.PUT('/api/user/prompts/{id}', { params, body: { used: true } })
    use(text)
    onClose()
  })
  return (
    <Modal opened onClose={onClose} title="Use a saved prompt">
      <Stack gap="sm">
        <Problem error={error ?? loadError ?? undefined} />
        <Select
          label="Prompt"
          searchable
          data-autofocus
          data={prompts.map(({ id: value, title }) => ({ value, label: title }))}
          filter={({ options }) => options}
          value={id}
          onChange={setId}
          onSearchChange={(text) => setTyped(text === prompt?.title ? '' : text)}
          nothingFoundMessage={search ? 'No prompts match' : 'No saved prompts yet'}
        />
        {prompt?.variables.map((name) => (
          <TextInput
            key={name}
            label={name}
            value={values[name] ?? ''}
            onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        ))}
        {prompt && <Textarea label="Preview" value={text} readOnly autosize maxRows={8} />}
        {!prompt && (
          <Text size="sm" c="dimmed">
            Fill in the variables here.
          </Text>
        )}
        <Group justify="flex-end">
          <Button
            variant="default"
            disabled={!prompt || isBusy}
            onClick={() => void submit(onSystem)}
          >
            Use as system prompt
          </Button>
          <Button disabled={!prompt} loading={isBusy} onClick={() => void submit(onMessage)}>
            Use as message
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
