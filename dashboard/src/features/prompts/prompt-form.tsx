import { ResourceForm } from '../../components/resource-form'
import { Switch, TagsInput, Textarea, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client'
import { promptsKey, type Prompt } from './queries'

const valuesOf = (prompt: Prompt | undefined) => ({
  title: prompt?.title ?? '',
  content: prompt?.content ?? '',
  description: prompt?.description ?? '',
  category: prompt?.category ?? '',
  tags: prompt?.tags ?? [],
  is_favorite: prompt?.is_favorite ?? false,
})

type Values = ReturnType<typeof valuesOf>

async function savePrompt(
  prompt: Prompt | undefined,
  { description, category, ...fields }: Values,
) {
  const body = {
    ...fields,
    description: description || null,
    category: category || null,
  }
  return prompt
    ? bodyOf(api.PUT('/api/user/prompts/{id}', { params: { path: { id: prompt.id } }, body }))
    : bodyOf(api.POST('/api/user/prompts', { body }))
}

interface Props {
  /** Undefined for a new prompt. */
  prompt: Prompt | undefined
  /** Receives the id of the new prompt. */
  onCreated: (id: string) => void
}

export function PromptForm({ prompt, onCreated }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: valuesOf(prompt) })
  const save = async (fields: Values) => {
    const saved = await savePrompt(prompt, fields)
    await queries.invalidateQueries({ queryKey: promptsKey })
    form.setInitialValues(valuesOf(saved))
    form.setValues(valuesOf(saved))
    notifications.show({ message: `${saved.title} was saved.` })
    if (!prompt) onCreated(saved.id)
  }
  return (
    <ResourceForm form={form} save={save} label={prompt ? 'Save' : 'Create'}>
      {prompt && (
        <Title order={3} size="h4">
          Edit prompt
        </Title>
      )}
      <Fields form={form} isNew={!prompt} />
    </ResourceForm>
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
    <Switch label="Favorite" {...form.getInputProps('is_favorite', { type: 'checkbox' })} />
  </>
)
