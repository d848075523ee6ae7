// RFC 7386: the patch that makes one object into another.
import { is_object, same, type Json, type JsonObject } from './lossless';

export function patch_of(before: JsonObject, after: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const old: Json | undefined = before[name];
    if (same(old, value)) continue;
    patch[name] = is_object(old) && is_object(value) ? patch_of(old, value) : value;
  }
  return patch;
}
