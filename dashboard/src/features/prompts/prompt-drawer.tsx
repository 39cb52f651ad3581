import { Alert, Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { Copy } from '../../components/copy'
import { filledIn, newPrompt, promptsKey, type Prompt } from './queries'
import { DeletePrompts } from './delete-prompts'
import { PromptForm } from './prompt-form'
import { SidePanel } from '../../components/side-panel'

interface Props {
  id: string
  /** Undefined when it is not in the loaded list. */
  prompt: Prompt | undefined
  onCreated: (id: string) => void
  onClose: () => void
}

export function PromptDrawer({ id, prompt, onCreated, onClose }: Props) {
  const [isDeleting, setDeleting] = useState(false)
  const isNew = id === newPrompt
  return (
    <SidePanel
      onClose={onClose}
      size="lg"
      title={isNew ? 'New prompt' : (prompt?.title ?? 'Prompt')}
    >
      {!isNew && !prompt && (
        <Alert color="gray">
          This prompt is not in the list. Clear the filters or load more prompts.
        </Alert>
      )}
      <Stack gap="lg">
        {prompt && <Use prompt={prompt} />}
        {(isNew || prompt) && <PromptForm prompt={prompt} onCreated={onCreated} />}
        {prompt && (
          <Group>
            <Button variant="subtle" color="red" onClick={() => setDeleting(true)}>
              Delete prompt
            </Button>
          </Group>
        )}
      </Stack>
      {isDeleting && prompt && (
        <DeletePrompts prompts={[prompt]} onDeleted={onClose} onClose={() => setDeleting(false)} />
      )}
    </SidePanel>
  )
}

/** Fills in the variables and copies the text or opens it in the playground. */
function Use({ prompt }: { prompt: Prompt }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const count = async () => {
    const param = { id: prompt.id }
    await api.PUT('/api/user/prompts/{id}', { params: { path: param }, body: { used: true } })
    await queries.invalidateQueries({ queryKey: promptsKey })
  }
  const text = filledIn(prompt.content, values)
  const talk = () => {
    void count().catch(() => {})
    void navigate({ to: '/playground', state: { message: text } })
  }
  return (
    <Stack gap="sm" component="section" aria-label="Use prompt">
      <Title order={3} size="h4">
        Use prompt
      </Title>
      {prompt.variables.map((name) => (
        <Textarea
          key={name}
          label={name}
          autosize
          minRows={1}
          maxRows={8}
          value={values[name] ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget
            setValues((before) => ({ ...before, [name]: value }))
          }}
        />
      ))}
      <Paper withBorder p="sm" mah={260} style={{ overflow: 'auto' }} tabIndex={0}>
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      </Paper>
      <Group>
        {/* A failure to count the use must not prevent it. */}
        <Copy value={text} label="Copy text" onCopied={() => void count().catch(() => {})} />
        <Button size="xs" onClick={talk}>
          Use in playground
        </Button>
      </Group>
    </Stack>
  )
}
