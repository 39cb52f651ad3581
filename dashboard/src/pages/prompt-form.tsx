import { Button, Group, Stack, Switch, TagsInput, Textarea, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { Problem } from '../components/problem'
import { promptsKey, type Prompt } from '../prompts'
import { useSubmit } from '../submit'

const valuesOf = (prompt: Prompt | undefined) => ({
  title: prompt?.title ?? '',
  content: prompt?.content ?? '',
  description: prompt?.description ?? '',
  category: prompt?.category ?? '',
  tags: prompt?.tags ?? [],
  is_favorite: prompt?.is_favorite ?? false,
})

type Values = ReturnType<typeof valuesOf>

async function save(prompt: Prompt | undefined, { description, category, ...fields }: Values) {
  const body = json({
    ...fields,
    description: description || null,
    category: category || null,
  })
  const answer = prompt
    ? await api.user.prompts[':id'].$put({ param: { id: prompt.id } }, body)
    : await api.user.prompts.$post(undefined, body)
  return answer.json()
}

interface Props {
  /** Undefined for a new prompt. */
  prompt: Prompt | undefined
  /** Receives the id of the new prompt. */
  onMade: (id: string) => void
}

export function PromptForm({ prompt, onMade }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: valuesOf(prompt) })
  const { submit, isBusy, error } = useSubmit(async (fields: Values) => {
    const saved = await save(prompt, fields)
    await queries.invalidateQueries({ queryKey: promptsKey })
    form.setInitialValues(valuesOf(saved))
    form.setValues(valuesOf(saved))
    notifications.show({ message: `${saved.title} was saved.` })
    if (!prompt) onMade(saved.id)
  }, form)
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
      <Stack gap="sm">
        {prompt && (
          <Title order={3} size="h4">
            Edit prompt
          </Title>
        )}
        <Problem error={error} />
        <Fields form={form} isNew={!prompt} />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
            {prompt ? 'Save' : 'Create'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface FieldsProps {
  form: ReturnType<typeof useForm<Values>>
  isNew: boolean
}

const Fields = ({ form, isNew }: FieldsProps) => (
  <>
    <TextInput
      label="Title"
      required
      maxLength={200}
      {...(isNew && { 'data-autofocus': true })}
      {...form.getInputProps('title')}
    />
    <Textarea
      label="Text"
      description="{{name}} is a variable, filled in when the prompt is used."
      required
      autosize
      minRows={5}
      maxRows={18}
      maxLength={20_000}
      {...form.getInputProps('content')}
    />
    <TextInput label="Description" maxLength={1000} {...form.getInputProps('description')} />
    <TextInput label="Category" maxLength={50} {...form.getInputProps('category')} />
    <TagsInput
      label="Tags"
      description="Press Enter after each tag."
      maxTags={20}
      maxLength={50}
      {...form.getInputProps('tags')}
    />
    <Switch label="Favourite" {...form.getInputProps('is_favorite', { type: 'checkbox' })} />
  </>
)
