import { Badge, Group, Paper, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ResourceForm } from '../../components/resource-form'
import { When } from '../../components/when'

interface CommentProps {
  by: string
  isSupport: boolean
  at: string
  text: string
}

/** A message in a conversation, rendered as plain text. */
export const CommentText = ({ by, isSupport, at, text }: CommentProps) => (
  <Paper withBorder p="md" component="article" aria-label={`${by} wrote`}>
    <Group justify="space-between" gap="xs" mb="xs">
      <Group gap="xs">
        <Text fw={600} size="sm">
          {by}
        </Text>
        {isSupport && <Badge variant="light">support</Badge>}
      </Group>
      <Text size="xs" c="dimmed">
        <When at={at} />
      </Text>
    </Group>
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  </Paper>
)

interface ReplyProps {
  hint: string | undefined
  send: (content: string) => Promise<unknown>
}

export function ReplyForm({ hint, send }: ReplyProps) {
  const form = useForm({
    initialValues: { content: '' },
    validate: { content: (value) => (value.trim() === '' ? 'Enter a message.' : null) },
  })
  const save = async ({ content }: typeof form.values) => {
    await send(content)
    form.reset()
  }
  return (
    <ResourceForm form={form} save={save} label="Send" kind="action">
      <Textarea
        label="Reply"
        {...(hint !== undefined && { description: hint })}
        maxLength={10_000}
        autosize
        minRows={3}
        maxRows={16}
        {...form.getInputProps('content')}
      />
    </ResourceForm>
  )
}
