import { Code, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { FormFrame } from '../components/form-frame'
import { ModelInput } from '../components/model-input'
import { useSubmit } from '../submit'
import { namesIn, templates, templatesQuery, type Template } from '../templates'

const fieldsOf = (template: Template | undefined) => ({
  name: template?.name ?? '',
  description: template?.description ?? '',
  modelId: template?.modelId ?? '',
  systemPrompt: template?.systemPrompt ?? '',
  initialMessage: template?.initialMessage ?? '',
  isPublic: template?.isPublic ?? false,
})

type Fields = ReturnType<typeof fieldsOf>

const gapsOf = ({ systemPrompt, initialMessage }: Fields) => namesIn(systemPrompt, initialMessage)

/** Empty texts are none: a new template leaves them out, a change takes them away. */
function toSent(fields: Fields, none: null | undefined): object {
  const texts = Object.entries(fields).map(([name, value]) => [name, value === '' ? none : value])
  return { ...Object.fromEntries(texts), variables: gapsOf(fields) }
}

interface Props {
  /** Absent for one that is to be made. */
  template?: Template
  onDone: () => void
}

/** A new template, or a change of one. */
export function TemplateForm({ template, onDone }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: fieldsOf(template) })
  const submission = useSubmit(async (fields: Fields) => {
    await (template
      ? templates.change(template.id, toSent(fields, null))
      : templates.create(toSent(fields, undefined)))
    await queries.invalidateQueries(templatesQuery)
    notifications.show({ message: `${fields.name} was ${template ? 'changed' : 'made'}.` })
    onDone()
  }, form)
  return (
    <FormFrame
      form={form}
      submission={submission}
      label={template ? 'Save' : 'Make it'}
      onCancel={onDone}
    >
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TextInput label="Description" maxLength={1000} {...form.getInputProps('description')} />
      <ModelInput
        label="Model"
        description="Without one it is chosen when a session is begun."
        {...form.getInputProps('modelId')}
        value={form.values.modelId}
      />
      <Texts form={form} />
      <Switch
        label="Others may use it too"
        description="Everybody who uses this service sees its texts."
        {...form.getInputProps('isPublic', { type: 'checkbox' })}
      />
    </FormFrame>
  )
}

function Texts({ form }: { form: UseFormReturnType<Fields> }) {
  const gaps = gapsOf(form.values)
  return (
    <>
      <Textarea
        label="System prompt"
        description="What the model is told before the conversation; {{name}} is a gap."
        autosize
        minRows={3}
        maxRows={12}
        maxLength={20_000}
        {...form.getInputProps('systemPrompt')}
      />
      <Textarea
        label="First message"
        description="Said as yours when a session is begun; gaps as above."
        autosize
        minRows={2}
        maxRows={12}
        maxLength={20_000}
        {...form.getInputProps('initialMessage')}
      />
      {gaps.length > 0 && (
        <Text size="sm">
          Filled in when a session is begun:{' '}
          {gaps.map((gap) => (
            <Code key={gap} mr={4}>
              {gap}
            </Code>
          ))}
        </Text>
      )}
    </>
  )
}
