import { JsonInput, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { api, type Schemas } from '../../../api/client'
import { changedFields, toBody } from '../../../components/changed-fields'
import { ResourceForm } from '../../../components/resource-form'
import { fromJson, jsonTextOf, jsonProblem } from '../json-fields'
import { adapters, type Provider } from './queries'
import { useRefresh } from '../refresh'

type Fields = Required<Pick<Schemas['NewProvider'], 'key' | 'name' | 'adapter'>> & {
  base_url: string
  auth: string
  keyless: boolean
  description: string
  website: string
  logo_url: string
  options: string
}

const newProvider: Fields = {
  key: '',
  name: '',
  adapter: 'openai',
  base_url: '',
  auth: 'authorization',
  keyless: false,
  description: '',
  website: '',
  logo_url: '',
  options: '',
}

const fieldsOf = (provider: Provider): Fields => ({
  ...newProvider,
  key: provider.key,
  name: provider.name,
  base_url: provider.base_url ?? '',
  auth: provider.auth,
  keyless: provider.keyless,
  description: provider.description ?? '',
  website: provider.website ?? '',
  logo_url: provider.logo_url ?? '',
  options: jsonTextOf(provider.options),
})

interface Props {
  /** The provider to edit; undefined for a new one. */
  provider?: Provider
  onClose: () => void
}

export function ProviderForm({ provider, onClose }: Props) {
  const refresh = useRefresh()
  const before = provider ? fieldsOf(provider) : newProvider
  const form = useForm({ initialValues: before, validate: { options: jsonProblem } })
  const save = async (fields: Fields) => {
    const values = { ...fields, options: fromJson(fields.options) }
    await (provider
      ? api.PUT('/api/admin/providers/{id}', {
          params: { path: { id: provider.id } },
          body: changedFields<Schemas['ChangedProvider']>(values, {
            ...before,
            options: fromJson(before.options),
          }),
        })
      : api.POST('/api/admin/providers', { body: toBody<Schemas['NewProvider']>(values) }))
    await refresh()
    notifications.show({ message: `${fields.name} was saved.` })
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label={provider ? 'Save' : 'Create'} onCancel={onClose}>
      <Identity form={form} isNew={!provider} />
      <TextInput
        label="Base URL"
        description="The part before /chat/completions, for example https://api.example.com/v1; empty if each connection has its own"
        type="url"
        maxLength={500}
        {...form.getInputProps('base_url')}
      />
      <TextInput
        label="API key header"
        description="For “authorization”, the key is prefixed with “Bearer ”"
        required
        maxLength={64}
        {...form.getInputProps('auth')}
      />
      <Switch
        label="Connections need no API key"
        {...form.getInputProps('keyless', { type: 'checkbox' })}
      />
      <Presentation form={form} />
      <JsonInput
        label="Compatibility options"
        description="Deviations from the standard API, as JSON: renamed, dropped and clamped fields, paths and headers (docs/operate/providers.md)"
        autosize
        minRows={2}
        maxRows={12}
        validationError="This is not valid JSON."
        {...form.getInputProps('options')}
      />
    </ResourceForm>
  )
}

interface SectionProps {
  form: UseFormReturnType<Fields>
}

const Identity = ({ form, isNew }: SectionProps & { isNew: boolean }) => (
  <Stack gap="sm">
    {isNew && (
      <TextInput
        label="Key"
        description="The prefix of its model names; cannot be changed: a-z, 0-9, “.”, “_” and “-”"
        required
        maxLength={40}
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps('key')}
      />
    )}
    <TextInput
      label="Name"
      required
      maxLength={100}
      {...(!isNew && { 'data-autofocus': true })}
      {...form.getInputProps('name')}
    />
    {isNew && (
      <Select
        label="API format"
        description="Cannot be changed"
        allowDeselect={false}
        data={Object.entries(adapters).map(([value, label]) => ({ value, label }))}
        {...form.getInputProps('adapter')}
      />
    )}
  </Stack>
)

const Presentation = ({ form }: SectionProps) => (
  <Stack gap="sm">
    <Textarea
      label="Description"
      autosize
      minRows={2}
      maxLength={500}
      {...form.getInputProps('description')}
    />
    <TextInput label="Website" type="url" maxLength={500} {...form.getInputProps('website')} />
    <TextInput label="Logo" type="url" maxLength={500} {...form.getInputProps('logo_url')} />
  </Stack>
)
