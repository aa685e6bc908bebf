/** The description of all operations as one page: no script, nothing loaded from elsewhere, readable offline. */

import type { JsonSchema } from '../input/problem-texts.ts'
import { type Html, html, htmlPage } from './html.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi.ts'

interface Entry {
  method: string
  path: string
  operation: OpenApiOperation
}

/** `origin` is where examples call the server. */
export function docsPage(document: OpenApiDocument, origin: string): string {
  const schemas = Object.entries(document.components.schemas)
  const groups = document.tags
    .map((tag) => ({ ...tag, entries: entriesOf(document, tag.name) }))
    .filter(({ entries }) => entries.length > 0)
  return htmlPage(
    `${document.info.title} – interface`,
    html`<header><h1>${document.info.title}: the interface</h1>
<p>${document.info.description} Version ${document.info.version}. <a href="/openapi.json">OpenAPI 3.1 document</a></p>
<p class="soft">Send <code>Authorization: Bearer TOKEN</code>, or <code>X-Api-Key</code> with <code>X-Application-Key</code>.
In <code>dev</code> mode requests from this machine need neither.</p></header>
<nav aria-label="Surfaces"><ul>${groups.map(({ name, entries }) => html`<li><a href="#${name}">${name}</a> (${entries.length})</li>`)}<li><a href="#schemas">schemas</a> (${schemas.length})</li></ul></nav>
<main id="content">${groups.map(
      ({ name, description, entries }) =>
        html`<section aria-labelledby="${name}"><h2 id="${name}">${name}</h2><p>${description}</p>${entries.map((entry) => entrySection(entry, origin))}</section>`,
    )}<section aria-labelledby="schemas"><h2 id="schemas">schemas</h2><p>What operations, and other schemas, call by name.</p>${schemas.map(([name, schema]) => schemaSection(name, schema))}</section></main>`,
  )
}

function entriesOf(document: OpenApiDocument, tag: string): Entry[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags[0] === tag)
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

function schemaSection(name: string, schema: JsonSchema): Html {
  return html`<details id="schema-${name}"><summary><h3><code>${name}</code></h3></summary>${schema.description && html`<p>${schema.description}</p>`}${schemaBlock(schema)}</details>`
}

function entrySection(entry: Entry, origin: string): Html {
  const { method, path, operation } = entry
  const { content = {} } = operation.requestBody ?? {}
  // Where it is not JSON, what is worth showing is the form.
  const body =
    content['application/json']?.schema ?? Object.values(content).find(({ schema }) => hasMembers(schema))?.schema
  return html`<details id="${operation.operationId}"><summary><h3><code>${method} ${path}</code></h3> ${operation.summary}${operation.deprecated && ' (deprecated)'}</summary>
${operation.description && html`<p>${operation.description}</p>`}
<p><strong>Access:</strong> ${operation['x-access']}${operation['x-rate-limits'] && html` · <strong>Rate limits:</strong> ${operation['x-rate-limits'].join(', ')}`} · <span class="soft">${operation.operationId}</span></p>
${operation.parameters.length > 0 && parameterTable(operation)}
${body && html`<h4>Body</h4><p class="soft">${Object.keys(content).join(', ')}</p>${schemaBlock(body)}`}
<h4>Responses</h4>${responseTable(operation)}
<h4>Example</h4><pre tabindex="0">${curl(entry, origin)}</pre></details>`
}

function parameterTable({ parameters }: OpenApiOperation): Html {
  return html`<h4>Parameters</h4><table><thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${parameters.map(
    ({ name, in: place, required, schema, description }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td>${place}${required && ', required'}</td><td>${typeText(schema)}</td><td>${description}</td></tr>`,
  )}</tbody></table>`
}

function responseTable({ responses }: OpenApiOperation): Html {
  const rows = Object.entries(responses).map(([status, response]) => {
    const label = status === 'default' ? 'any other' : status
    if ('$ref' in response) {
      const name = lastPart(response.$ref)
      return html`<tr><th scope="row">${label}</th><td><a href="#schema-${name}">${name}</a></td></tr>`
    }
    const [type, content] = Object.entries(response.content ?? {})[0] ?? []
    return html`<tr><th scope="row">${label}</th><td>${response.description}${type && html` <span class="soft">${type}</span>`}${content?.schema && schemaBlock(content.schema)}</td></tr>`
  })
  return html`<table><thead><tr><th scope="col">Status</th><th scope="col">Answer</th></tr></thead><tbody>${rows}</tbody></table>`
}

function schemaBlock(schema: JsonSchema): Html {
  return html`<pre tabindex="0">${JSON.stringify(sample(schema, 0), null, 2)}</pre>`
}

/** The shape as JSON, with types in the place of values. */
function sample(schema: JsonSchema, depth: number): unknown {
  if (depth > 8) return '…'
  if (schema.allOf) return sample(Object.assign({}, ...(schema.allOf as JsonSchema[])), depth)
  if (schema.anyOf?.some(hasMembers)) return { 'one of': schema.anyOf.map((one: JsonSchema) => sample(one, depth + 1)) }
  const ofAnyName = valuesOf(schema)
  if (ofAnyName !== undefined) return { '…': sample(ofAnyName, depth + 1) }
  if (schema.type === 'object' && schema.properties) {
    const required = (schema.required ?? []) as string[]
    const members = Object.entries(schema.properties as Record<string, JsonSchema>)
    return Object.fromEntries(
      members.map(([name, one]) => [required.includes(name) ? name : `${name}?`, sample(one, depth + 1)]),
    )
  }
  if (schema.type === 'array') return [sample((schema.items ?? {}) as JsonSchema, depth + 1)]
  return typeText(schema)
}

/** Whether there is more to show of it than a type. */
function hasMembers(schema: JsonSchema): boolean {
  if (schema.type === 'array') return hasMembers((schema.items ?? {}) as JsonSchema)
  return schema.properties !== undefined || valuesOf(schema) !== undefined
}

/** Of a map, what its values are. */
function valuesOf({ properties, additionalProperties, patternProperties }: JsonSchema): JsonSchema | undefined {
  if (properties !== undefined) return undefined
  if (typeof additionalProperties === 'object') return additionalProperties as JsonSchema
  return Object.values((patternProperties ?? {}) as Record<string, JsonSchema>)[0]
}

function typeText(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return lastPart(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' | ')
  const range =
    schema.minimum !== undefined || schema.maximum !== undefined
      ? ` ${schema.minimum ?? ''}…${schema.maximum ?? ''}`
      : ''
  const standard = schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`
  return `${schema.format ?? schema.type ?? 'any'}${range}${standard}`
}

/** The name that a reference ends with. */
function lastPart(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function curl({ method, path, operation }: Entry, origin: string): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} "${origin}${path}"`]
  if (operation['x-access'] !== 'public') lines.push('-H "Authorization: Bearer $TOKEN"')
  const [type] = Object.keys(operation.requestBody?.content ?? {})
  if (type === 'application/json') lines.push(`-H "Content-Type: ${type}"`, "-d '{…}'")
  else if (type !== undefined) lines.push(`-H "Content-Type: ${type}"`, '--data-binary @FILE')
  return lines.join(' \\\n  ')
}
